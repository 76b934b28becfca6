// Resources: which there are, and one: who rules it, what is on its way, and its story.

import { get, post, segment } from "./api.js";
import { now } from "./clock.js";
import { confirm, field } from "./dialog.js";
import { button, code, el, link, name, swap, visible } from "./dom.js";
import { lease, remainders } from "./lease.js";
import { askToPause } from "./pauses.js";
import { address, note } from "./router.js";
import { steps } from "./steps.js";
import { empty, mishap } from "./states.js";
import { tell } from "./story.js";
import { facts, listed, table } from "./table.js";
import { moment, ms } from "./time.js";
import { Timeline } from "./timeline.js";

const LOOK_MS = 2000;
const TYPED_MS = 250;
// Steps of a busy resource that a page keeps and draws while it follows.
const KEPT = 1000;

export async function showResources(view) {
  if (view.path[1]) await showResource(view, view.path[1]);
  else await showList(view);
}

const COLUMNS = [
  { head: "Resource", kind: "long", cell: (item) => link(address(["resources", item.resource]), name(item.resource)) },
  { head: "Holder", kind: "some", cell: (item) => name(item.holder) },
  { head: "Epoch", cell: (item) => code(item.epoch) },
  { head: "Lease", kind: "wide", cell: (item) => lease(item.lease) },
  {
    head: "In flight",
    kind: "number",
    cell: (item) => item.in_flight + item.older_in_flight || el("span", { class: "faint" }, "0"),
  },
];

async function showList(view) {
  const prefix = el("input", {
    type: "search",
    id: "prefix",
    value: view.query.get("prefix") ?? "",
    placeholder: "report/",
    autocomplete: "off",
    spellcheck: "false",
  });
  const place = el("div");
  let timer = 0;
  const search = async () => {
    note(["resources"], { prefix: prefix.value });
    await listed(place, {
      label: "Resources",
      columns: COLUMNS,
      fetchPage: (cursor) => get("/api/v1/resources", { prefix: prefix.value, cursor }, view.signal),
      none: prefix.value ? "No resource begins like this." : "No resource was written, leased or advanced yet.",
    });
  };
  prefix.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(search, TYPED_MS);
  });
  swap(
    view.root,
    el("h1", {}, "Resources"),
    el(
      "form",
      {
        class: "tools",
        role: "search",
        on: {
          submit: (event) => {
            event.preventDefault();
            search();
          },
        },
      },
      el("label", { for: "prefix" }, "Begins with"),
      prefix,
      el("button", {}, "Find"),
    ),
    place,
  );
  remainders(place, view);
  await search();
}

async function showResource(view, resource) {
  document.title = `${visible(resource)} · fencegate`;
  const head = el("div");
  const timeline = new Timeline(`Timeline of ${resource}`);
  const beneath = el("div");
  // Filled while it is closed too: a browser's search finds what is in it, and nobody opens it before it is filled.
  const list = el("div");
  const asTable = el("details", { class: "as-table" }, el("summary", {}, "The same as a list"), list);
  const older = el("p", { class: "foot" });
  const trail = new Trail(resource, view.signal);
  let shown = "";
  let looks = 0;
  const draw = async () => {
    const look = ++looks;
    const [found] = await Promise.all([
      get(`/api/v1/resources/${segment(resource)}`, {}, view.signal),
      trail.refresh(),
    ]);
    // A look that was overtaken by a later one knows less.
    if (look !== looks) return;
    const { events: _, ...facts } = found;
    const seen = JSON.stringify([facts, trail.events[0]?.number, trail.events.length]);
    const seen_ms = now();
    const story = tell(trail.events, found, seen_ms);
    if (story.isLive || seen !== shown) timeline.show(story, seen_ms);
    if (seen === shown || document.querySelector("dialog[open]")) return;
    shown = seen;
    swap(head, drawHead(found, draw));
    swap(beneath, drawTickets(found));
    swap(list, steps(trail.events));
    swap(older, trail.next && button("Load older steps", readOn));
  };
  const readOn = async (event) => {
    const pressed = event.currentTarget;
    pressed.disabled = true;
    try {
      await trail.older();
      await draw();
    } catch (error) {
      if (!view.isOver) swap(older, pressed, mishap(error));
    } finally {
      pressed.disabled = false;
    }
  };
  await draw();
  swap(
    view.root,
    el("p", { class: "trail" }, link(address(["resources"]), "Resources")),
    head,
    timeline.figure,
    older,
    asTable,
    beneath,
  );
  timeline.redraw();
  remainders(view.root, view);
  view.every(LOOK_MS, draw);
}

/** The audit trail of one resource, as far as it was read. */
class Trail {
  constructor(resource, signal) {
    this.query = { resource };
    this.signal = signal;
    this.events = [];
    this.next = null;
  }

  /** The newest page; what was read before it stays, if nothing is missing between them, and as long as it can. */
  async refresh() {
    const page = await get("/api/v1/audit", this.query, this.signal);
    const known = new Set(this.events.map((event) => event.number));
    const news = page.items.filter((event) => !known.has(event.number));
    const isTorn = news.length === page.items.length && page.next !== null;
    if (!this.events.length || (news.length && (isTorn || this.events.length + news.length > KEPT))) {
      this.events = page.items;
      this.next = page.next;
    } else {
      this.events = [...news, ...this.events];
    }
  }

  /** The page before. Where the trail was read on meanwhile, by a second click or a look, it fits no more. */
  async older() {
    const cursor = this.next;
    const page = await get("/api/v1/audit", { ...this.query, cursor }, this.signal);
    if (this.next !== cursor) return;
    this.events = [...this.events, ...page.items];
    this.next = page.next;
  }
}

function drawHead(found, draw) {
  const doing = (title, kind, act) =>
    button(title, async () => (await act()) && draw(), { class: kind, "data-keep": title });
  return [
    el(
      "header",
      { class: "title" },
      el("h1", {}, name(found.resource)),
      found.pause && el("span", { class: "badge bad" }, "Paused"),
      el(
        "div",
        { class: "buttons" },
        !found.pause && doing("Pause", null, () => askToPause({ resource: found.resource })),
        doing("Raise the epoch", "grave", () => advance(found)),
      ),
    ),
    found.pause &&
      el("p", { class: "caution" }, "Paused: ", name(found.pause.reason), " ", link(address(["pauses"]), "See pauses")),
    facts([
      ["Holder", name(found.holder)],
      ["Epoch", code(found.epoch)],
      ["Lease", lease(found.lease)],
      [
        "Writes in flight",
        found.in_flight + found.older_in_flight === 0
          ? "none"
          : `${found.in_flight}${found.older_in_flight ? `, and ${found.older_in_flight} of older epochs` : ""}`,
      ],
      ["Revision", found.revision !== "0" && code(found.revision)],
    ]),
  ];
}

function advance(found) {
  const epoch = field(
    "epoch",
    "Epoch",
    el("input", { inputmode: "numeric", pattern: "[0-9]{1,20}", autocomplete: "off", placeholder: "the next one" }),
    "Leave it empty for the next one.",
  );
  return confirm({
    title: "Raise the epoch",
    body: el(
      "p",
      {},
      "Whoever writes ",
      name(found.resource),
      " now is refused from here on, and what is queued below the new epoch is never sent. It cannot be lowered again.",
    ),
    fields: [epoch],
    verb: "Raise it",
    isGrave: true,
    act: (given) =>
      post(`/api/v1/resources/${segment(found.resource)}/advance`, given.epoch ? { epoch: given.epoch } : {}),
  });
}

const TICKETS = [
  {
    head: "Write",
    kind: "long",
    cell: (ticket) => link(address(["intents", ticket.intent ?? ticket.id]), code(ticket.id)),
  },
  {
    head: "State",
    cell: (ticket) => el("span", { class: ticket.unfinished ? "badge" : "badge live" }, ticket.unfinished ? "unfinished" : "in flight"),
  },
  { head: "Rule", kind: "some", cell: (ticket) => [name(ticket.upstream), " / ", name(ticket.rule)] },
  { head: "Holder", kind: "some", cell: (ticket) => name(ticket.holder) },
  { head: "Epoch", cell: (ticket) => code(ticket.epoch) },
  { head: "Attempt", kind: "number", cell: (ticket) => ticket.attempt },
  { head: "Ends by", kind: "number", cell: (ticket) => moment(ticket.deadline) },
];

function drawTickets(found) {
  const tickets = [...found.tickets].sort((a, b) => ms(a.deadline) - ms(b.deadline));
  return el(
    "section",
    {},
    el("h2", {}, "In flight"),
    tickets.length
      ? el("div", { class: "scroll" }, table("Writes in flight", TICKETS, tickets))
      : empty("No write of it is on its way."),
  );
}
