// A story drawn as SVG: positions and shapes, nothing that listens.

import { svg, swap } from "./dom.js";
import { anchor } from "./scale.js";
import { duration } from "./time.js";

const AXIS = 26;
const LABEL = 20;
const BAND = 10;
const ROW = 17;
const BAR = 11;
const AIR = 16;
// Narrower, a write could not be seen.
const THINNEST = 4;
// Of a rule's name, of why a write was refused, of a holder with its epoch, and with how its reign began.
const NAME = 92;
const WHY = 112;
const LANE = 190;
const CAME = 460;

/** Draw into `canvas`; `enliven(node, entry)` makes an entry answer. Returns the height in pixels. */
export function draw(canvas, story, entries, scale, now_ms, enliven) {
  const tops = [];
  let y = AXIS + 6;
  for (const lane of story.lanes) {
    tops.push(y);
    y += LABEL + BAND + lane.rows * ROW + AIR;
  }
  const height = Math.max(y, AXIS + 40);
  swap(
    canvas,
    patterns(),
    axis(scale, height),
    pauses(story, scale, now_ms, height),
    story.lanes.map((lane, at) => ground(lane, tops[at], scale, now_ms)),
    story.lanes.map((lane, at) => handover(lane, tops[at], tops[story.lanes.indexOf(lane.next)], scale)),
    entries.map((entry) => {
      const node = shape(entry, tops[entry.lane], scale);
      enliven(node, entry);
      return node;
    }),
    story.lanes.map((lane, at) => [label(lane, tops[at], scale), rules(lane, tops[at], scale, now_ms)]),
    story.lanes.map((_, at) => reasons(entries, at, tops[at], scale)),
  );
  return height;
}

function patterns() {
  const hatch = (id, width) =>
    svg(
      "pattern",
      { id, class: id, width, height: width, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("rect", { class: "under", width, height: width }),
      svg("rect", { class: "over", width: width / 2, height: width }),
    );
  return svg("defs", {}, hatch("doubt", 5), hatch("stopped", 8), hatch("running", 6));
}

function axis(scale, height) {
  const labelled = new Set(scale.labelled().map((fold) => fold.from));
  return svg(
    "g",
    { class: "axis", "aria-hidden": "true" },
    scale
      .ticks()
      .map((tick) => [
        svg("line", { x1: tick.x, x2: tick.x, y1: AXIS - 6, y2: height }),
        svg("text", { x: tick.x, y: AXIS - 11, "text-anchor": anchor(tick.x, scale.width) }, tick.label),
      ]),
    scale
      .folds()
      .filter((fold) => fold.to > 0 && fold.from < scale.width)
      .map((fold) =>
        svg(
          "g",
          { class: "fold" },
          svg("rect", { x: fold.from, width: fold.to - fold.from, y: AXIS - 6, height }),
          labelled.has(fold.from) &&
            svg(
              "text",
              { x: (fold.from + fold.to) / 2, y: AXIS - 11, "text-anchor": "middle" },
              `↔ ${duration(fold.span)}`,
            ),
        ),
      ),
  );
}

function pauses(story, scale, now_ms, height) {
  return story.pauses.map((pause) => {
    const from = scale.x(pause.from);
    return svg(
      "rect",
      {
        class: "pause",
        x: from,
        y: AXIS,
        width: Math.max(2, scale.x(pause.to ?? now_ms) - from),
        height: height - AXIS,
      },
      svg("title", {}, `paused: ${pause.event.reason}`),
    );
  });
}

function label(lane, top, scale) {
  const begin = scale.x(lane.begin);
  const room = scale.width - begin;
  const came = howItCame(lane);
  // Beside the line that leads here from the lane above: right of it, or left where there is no room.
  const needed = came ? CAME : LANE;
  const isLeft = begin < scale.width && [LANE, needed].some((each) => room < each && begin > each);
  const right = Math.max(4, Math.min(scale.width - LANE, begin + (came ? 6 : 0)));
  return svg(
    "text",
    {
      class: "lane",
      x: isLeft ? begin - 6 : right,
      y: top + 13,
      "text-anchor": isLeft && "end",
      "aria-hidden": "true",
    },
    svg("tspan", { class: lane.holder ? "holder" : "unnamed" }, clipped(lane.holder ?? unnamed(lane), 22)),
    lane.epoch && svg("tspan", { class: "epoch", dx: 7 }, lane.epoch),
    came && (isLeft ? begin : room) > CAME && svg("tspan", { class: "came", dx: 9 }, came),
  );
}

function unnamed(lane) {
  if (!lane.isRuling) return "nobody that ruled";
  return lane.grant?.kind === "advanced" ? "nobody" : "unnamed holder";
}

function howItCame(lane) {
  if (lane.grant?.kind === "advanced") return "raised by an operator";
  if (lane.grant?.kind === "registered") return "registered";
  if (!lane.before) return null;
  const { end, seconds } = lane.before;
  const holder = clipped(lane.before.holder, 16);
  return {
    taken: `took over from ${holder} with ${duration(1000 * seconds)} left`,
    expired: `after the lease of ${holder} ran out`,
    returned: `after ${holder} gave it back`,
    lost: `after the store lost the lease of ${holder}`,
  }[end];
}

/** From the band of who was overtaken to the band of who came. */
function handover(lane, top, below, scale) {
  const x = lane.end === null ? -1 : scale.x(lane.end);
  if (below === undefined || x < 0 || x > scale.width) return null;
  const kind = lane.next.before?.end === "taken" ? "handover taken" : "handover";
  return svg("line", { class: kind, x1: x, x2: x, y1: top + LABEL, y2: below + LABEL, "aria-hidden": "true" });
}

/** Why a write was refused, beside its mark, where there is room. */
function reasons(entries, lane, top, scale) {
  const found = entries.filter((entry) => entry.lane === lane && entry.row < 0);
  return found.map((mark) => {
    if (!mark.reason) return null;
    const x = scale.x(mark.at);
    const isFree = (from, to) => from > 0 && to < scale.width && !isTaken(found, mark, from, to, scale);
    const side = isFree(x + 9, x + WHY) ? 1 : isFree(x - WHY, x - 9) ? -1 : 0;
    if (!side || x < 0 || x > scale.width) return null;
    const [place, anchored] = [x + 12 * side, side > 0 ? "start" : "end"];
    const y = top + LABEL + BAND / 2 + 4;
    return svg("text", { class: "why", x: place, y, "text-anchor": anchored, "aria-hidden": "true" }, mark.reason);
  });
}

/** Whether anything else of the lane is within these pixels: another mark, or the band of the reign. */
function isTaken(found, self, from, to, scale) {
  return found.some((each) => {
    const end = each.isOpen ? scale.width : scale.x(each.to);
    return each !== self && scale.x(each.at) < to && end > from;
  });
}

function clipped(text, longest) {
  const letters = [...text];
  return letters.length > longest ? `${letters.slice(0, longest - 1).join("")}…` : text;
}

/** The name of each write's rule beside it, where there is room. */
function rules(lane, top, scale, now_ms) {
  const ends = lane.threads.map((thread) => extent(thread, scale, now_ms));
  return lane.threads.map((thread, at) => {
    const rule = (thread.stretches[0]?.begin ?? thread.stretches[0]?.end ?? thread.marks[0].event).rule;
    const { from, to } = ends[at];
    const following = ends.filter((each, other) => lane.threads[other].row === thread.row && each.from > from);
    const stops = [...following.map((each) => each.from), lane.end === null ? scale.width : scale.x(lane.end)];
    const room = Math.min(scale.width, ...stops.filter((stop) => stop > to)) - to;
    if (room < NAME || to < 0) return null;
    const y = top + LABEL + BAND + 6 + thread.row * ROW + BAR - 1;
    return svg("text", { class: "rule", x: to + 7, y, "aria-hidden": "true" }, clipped(rule, 14));
  });
}

function extent(thread, scale, now_ms) {
  const all = [...thread.stretches, ...thread.marks.map((mark) => ({ from: mark.at, to: mark.at }))];
  return {
    from: scale.x(Math.min(...all.map((each) => each.from))),
    to: Math.max(...all.map((each) => Math.max(scale.x(each.to ?? now_ms), scale.x(each.from) + THINNEST))),
  };
}

/** The lane's line, and how long its lease still runs. */
function ground(lane, top, scale, now_ms) {
  const y = top + LABEL;
  const live = lane.leases.find((lease) => lease.to === null && lease.until > now_ms);
  const from = live && scale.x(now_ms);
  return svg(
    "g",
    { "aria-hidden": "true" },
    svg("line", { class: "line", x1: 0, x2: scale.width, y1: y + BAND / 2, y2: y + BAND / 2 }),
    live &&
      from < scale.width &&
      svg("rect", { class: "remainder", x: from, y, width: scale.width - from, height: BAND }),
  );
}

function shape(entry, top, scale) {
  const from = scale.x(entry.at);
  const to = scale.x(entry.to);
  const y = entry.row < 0 ? top + LABEL : top + LABEL + BAND + 6 + entry.row * ROW;
  entry.y = entry.row < 0 ? y + BAND : y + BAR;
  const node = svg("g", {
    class: `entry ${entry.shape} ${entry.tone}${entry.isOpen ? " open" : ""}${entry.href ? " leads" : ""}`,
    role: entry.href ? "link" : "img",
    "aria-label": [entry.title, ...entry.lines].join("; "),
    "data-keep": entry.keep,
  });
  node.append(...figure(entry, from, to, y, scale.width), ...leased(entry, y, scale));
  return node;
}

/** Within the band of a reign, as long as a lease was held. */
function leased(entry, y, scale) {
  return (entry.leases ?? []).map((lease) => {
    const from = scale.x(lease.from);
    return svg("rect", {
      class: "held",
      x: from,
      y,
      width: Math.max(1, scale.x(lease.to) - from),
      height: BAND,
      rx: 2,
    });
  });
}

function figure(entry, from, to, y, width) {
  const middle = y + BAND / 2;
  // Whoever rules now does so until somebody newer comes.
  const end = entry.shape === "reign" && entry.isOpen ? Math.max(width, from) : to;
  switch (entry.shape) {
    case "reign":
      return [svg("rect", { x: from, y, width: Math.max(2, end - from), height: BAND, rx: 2 })];
    case "bar":
      return [svg("rect", { x: from, y, width: Math.max(THINNEST, to - from), height: BAR, rx: 2 })];
    case "waits":
      return [
        svg("rect", { class: "hit", x: from, y, width: Math.max(THINNEST, to - from), height: BAR }),
        svg("line", { x1: from, x2: Math.max(from + THINNEST, to), y1: y + BAR / 2, y2: y + BAR / 2 }),
      ];
    case "end":
      return [svg("circle", { cx: from, cy: y + BAR / 2, r: 4.5 })];
    case "refusal":
      return [
        svg("circle", { cx: from, cy: middle, r: 7.5 }),
        svg("path", { d: `M${from - 3} ${middle - 3}l6 6m0 -6l-6 6` }),
      ];
    case "incident":
      return [svg("path", { d: `M${from} ${middle - 8}l8 8l-8 8l-8 -8z` })];
    case "granted":
    case "registered":
    case "advanced":
      return [svg("path", { d: `M${from - 2} ${middle - 7}l9 7l-9 7z` })];
    case "renewed":
      return [
        svg("rect", { class: "hit", x: from - 5, y: y - 2, width: 10, height: BAND + 4 }),
        svg("line", { x1: from, x2: from, y1: y - 2, y2: y + BAND + 2 }),
      ];
    default:
      return [svg("rect", { x: from - 4, y: middle - 4, width: 8, height: 8 })];
  }
}
