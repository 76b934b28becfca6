// The timeline of a resource: epochs as lanes, who ruled, what each write did, and who came too late.

import { el, fresh, put, svg, swap } from "./dom.js";
import { entriesOf } from "./entries.js";
import { draw } from "./drawing.js";
import { Scale } from "./scale.js";

const WHOLE = { from: 0, to: 1 };
const ZOOM = 1.6;
// Closer, a pixel would be less than what clocks tell apart.
const CLOSEST = 1 / 4000;

/** A figure that shows a story, and may be told a newer one: `show(story, now_ms)`. */
export class Timeline {
  constructor(label) {
    this.window = { ...WHOLE };
    this.story = null;
    this.at = 0;
    this.tip = el("div", { class: "tip", role: "presentation", hidden: true });
    this.help = fresh("help");
    this.canvas = svg("svg", { class: "canvas", role: "group", "aria-label": label, "aria-describedby": this.help });
    this.listen();
    // Not at the canvas itself: a browser would take it for something that can have the focus.
    const field = el("div", { class: "field-of-view", on: { focusout: () => this.hideTip() } }, this.canvas, this.tip);
    this.figure = el(
      "figure",
      { class: "timeline" },
      this.tools(),
      field,
      legend(),
      el(
        "p",
        { id: this.help, class: "quiet" },
        "Arrow keys go from entry to entry, Enter opens one, + and − zoom, 0 shows all.",
      ),
    );
    new ResizeObserver(() => this.redraw()).observe(this.canvas);
  }

  show(story, now_ms) {
    const entries = entriesOf(story, now_ms);
    // Who looks closer must not have the ground move because time goes on.
    if (this.window.to - this.window.from < 1 && entries.length === this.entries.length) return;
    this.story = story;
    this.now = now_ms;
    this.entries = entries;
    this.at = Math.min(this.at, Math.max(0, this.entries.length - 1));
    this.redraw();
  }

  redraw() {
    const width = this.canvas.clientWidth;
    if (!this.story || !width) return;
    this.scale = new Scale(this.story.instants, width, this.window);
    const height = draw(this.canvas, this.story, this.entries, this.scale, this.now, (node, entry) =>
      this.enliven(node, entry),
    );
    this.canvas.setAttribute("height", height);
  }

  tools() {
    const button = (title, label, act) =>
      el("button", { type: "button", title, "aria-label": title, on: { click: act } }, label);
    return el(
      "div",
      { class: "zoom" },
      el("h2", {}, "Timeline"),
      button("Earlier", "←", () => this.pan(-0.4)),
      button("Later", "→", () => this.pan(0.4)),
      button("Zoom out", "−", () => this.zoom(1 / ZOOM)),
      button("Zoom in", "+", () => this.zoom(ZOOM)),
      button("Show all", "All", () => this.look(WHOLE)),
    );
  }

  listen() {
    this.canvas.addEventListener("keydown", (event) => this.onKey(event));
    this.canvas.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, event.offsetX / this.canvas.clientWidth);
      },
      { passive: false },
    );
    this.canvas.addEventListener("pointerdown", (event) => this.drag(event));
    this.canvas.addEventListener("pointerleave", () => this.hideTip());
  }

  onKey(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) this.go(this.at + step);
    else if (event.key === "Home") this.go(0);
    else if (event.key === "End") this.go(this.entries.length - 1);
    else if (event.key === "+" || event.key === "=") this.zoom(ZOOM, this.focused());
    else if (event.key === "-") this.zoom(1 / ZOOM, this.focused());
    else if (event.key === "0") this.look(WHOLE);
    else if (event.key === "Enter" && this.entries[this.at]?.href) location.hash = this.entries[this.at].href;
    else if (event.key === "Escape") this.hideTip();
    else return;
    event.preventDefault();
  }

  /** Focus an entry, and look where it is. */
  go(at) {
    if (!this.entries.length) return;
    this.at = Math.max(0, Math.min(this.entries.length - 1, at));
    const u = this.scale.whole(this.entries[this.at].at);
    const size = this.window.to - this.window.from;
    if (u < this.window.from || u > this.window.to) this.look({ from: u - size / 2, to: u + size / 2 });
    else this.redraw();
    this.canvas.querySelector('[tabindex="0"]')?.focus({ preventScroll: true });
  }

  focused() {
    const entry = this.entries[this.at];
    const isFocused = this.canvas.contains(document.activeElement);
    return isFocused && entry ? Math.max(0, Math.min(1, this.scale.x(entry.at) / this.canvas.clientWidth)) : 0.5;
  }

  /** Zoom by a factor, around a place in the window (0 to 1). */
  zoom(factor, around = 0.5) {
    const size = this.window.to - this.window.from;
    const next = Math.max(CLOSEST, Math.min(1, size / factor));
    const from = this.window.from + around * (size - next);
    this.look({ from, to: from + next });
  }

  pan(share) {
    const by = share * (this.window.to - this.window.from);
    this.look({ from: this.window.from + by, to: this.window.to + by });
  }

  look({ from, to }) {
    const size = Math.min(1, to - from);
    const begin = Math.max(0, Math.min(1 - size, from));
    this.window = { from: begin, to: begin + size };
    this.hideTip();
    this.redraw();
  }

  drag(down) {
    if (down.button !== 0 || this.window.to - this.window.from >= 1) return;
    const { from, to } = this.window;
    const move = (event) => {
      const by = ((down.clientX - event.clientX) / this.canvas.clientWidth) * (to - from);
      this.look({ from: from + by, to: to + by });
    };
    const end = () => removeEventListener("pointermove", move);
    addEventListener("pointermove", move);
    addEventListener("pointerup", end, { once: true });
    addEventListener("pointercancel", end, { once: true });
  }

  enliven(node, entry) {
    const at = this.entries.indexOf(entry);
    node.setAttribute("tabindex", at === this.at ? "0" : "-1");
    node.addEventListener("pointerenter", () => this.showTip(entry));
    node.addEventListener("focus", () => {
      this.at = at;
      this.showTip(entry);
    });
    if (entry.href) node.addEventListener("click", () => (location.hash = entry.href));
  }

  showTip(entry) {
    swap(
      this.tip,
      el("b", {}, entry.title),
      entry.lines.map((line) => el("span", {}, line)),
    );
    this.tip.hidden = false;
    const width = this.canvas.clientWidth;
    const visible = (this.scale.x(Math.max(entry.at, this.story.from)) + this.scale.x(entry.to)) / 2;
    const x = Math.max(8, Math.min(width - this.tip.offsetWidth - 8, visible - this.tip.offsetWidth / 2));
    this.tip.style.left = `${x}px`;
    this.tip.style.top = `${entry.y + 14}px`;
  }

  hideTip() {
    this.tip.hidden = true;
  }
}

function legend() {
  const sample = (tone, words) => el("li", {}, el("i", { class: `sample ${tone}` }), words);
  return put(
    el("ul", { class: "legend", "aria-label": "Legend" }),
    sample("held", "rules, with a lease"),
    sample("reign", "without one"),
    sample("lease", "lease still running"),
    sample("applied", "applied"),
    sample("unknown", "unknown"),
    sample("not_applied", "not applied"),
    sample("waits", "queued"),
    sample("person", "waits for a person"),
    sample("refusal", "refused"),
  );
}
