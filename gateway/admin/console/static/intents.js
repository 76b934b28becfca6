// Intents: those of a state, and one with all that is known of it.

import { get, segment } from "./api.js";
import { isApproverOnly } from "./credentials.js";
import { actions } from "./decisions.js";
import { doubt } from "./doubt.js";
import { button, code, el, link, name, swap, visible } from "./dom.js";
import { request, response } from "./exchange.js";
import { address } from "./router.js";
import { listed, facts } from "./table.js";
import { steps } from "./steps.js";
import { moment } from "./time.js";
import { follow, intentsIn, look } from "./vitals.js";
import { STATES, stateOf } from "./words.js";

export async function showIntents(view) {
  if (view.path[0] === "intents" && view.path[1]) await showIntent(view, view.path[1]);
  else await showList(view);
}

async function showList(view) {
  const wanted = isApproverOnly() ? "awaiting_approval" : view.query.get("state");
  const state = Object.hasOwn(STATES, wanted) ? wanted : firstWaiting();
  const filter = el("nav", { class: "filter", "aria-label": "States" });
  const place = el("div");
  const drawFilter = () =>
    swap(
      filter,
      el(
        "ul",
        {},
        Object.entries(STATES).map(([each, known]) => {
          const number = intentsIn(each);
          return el(
            "li",
            {},
            el(
              "a",
              {
                href: address(["intents"], { state: each }),
                "data-keep": each,
                "aria-current": each === state && "true",
                title: known.meaning,
              },
              known.title,
              number ? el("span", { class: "count" }, number.toLocaleString("en-GB")) : null,
            ),
          );
        }),
      ),
    );
  swap(
    view.root,
    el("h1", {}, isApproverOnly() ? "Approvals" : "Intents"),
    !isApproverOnly() && filter,
    el("p", { class: "quiet lead" }, `${STATES[state].title}: ${STATES[state].meaning}.`),
    place,
  );
  if (!isApproverOnly()) follow(drawFilter, view.signal);
  drawFilter();
  await listed(place, {
    label: `Intents: ${STATES[state].title}`,
    columns: COLUMNS,
    fetchPage: (cursor) => get("/api/v1/intents", { state, cursor }, view.signal),
    none: `No intent is in this state.`,
  });
}

/** An approver sees no resources, and so is not led to them. */
function resource(intent) {
  const named = name(intent.resource);
  return isApproverOnly() ? named : link(address(["resources", intent.resource]), named);
}

function firstWaiting() {
  return ["awaiting_approval", "unknown", "failed"].find((state) => intentsIn(state)) ?? "unknown";
}

const OVERTAKEN = "overtaken: a newer epoch rules, and its holder would have to ask again";

const COLUMNS = [
  { head: "Intent", kind: "long", cell: (item) => link(address(["intents", item.id]), code(item.key ?? item.id)) },
  { head: "Rule", kind: "some", cell: (item) => [name(item.upstream), " / ", name(item.rule)] },
  { head: "Resource", kind: "long", cell: resource },
  { head: "Holder", kind: "some", cell: (item) => name(item.holder) },
  { head: "Why", kind: "wide", cell: (item) => (item.overtaken ? OVERTAKEN : name(item.reason)) },
  { head: "Since", kind: "number", cell: (item) => moment(item.updated_at) },
];

async function showIntent(view, id) {
  const intent = await get(`/api/v1/intents/${segment(id)}`, {}, view.signal);
  document.title = `${visible(intent.key ?? intent.id)} · fencegate`;
  // An approver sees by itself only what waits; what it has decided about comes with the answer.
  const redraw = (decided) => {
    Object.assign(intent, decided);
    swap(view.root, drawIntent(decided, redraw));
    view.root.focus({ preventScroll: true });
    look();
  };
  swap(view.root, drawIntent(intent, redraw));
  // What is on its way ends without anybody's doing.
  view.every(3000, async () => {
    if (document.querySelector("dialog[open]") || !["in_flight", "queued", "compensating"].includes(intent.state))
      return;
    const later = await get(`/api/v1/intents/${segment(id)}`, {}, view.signal);
    if (later.state === intent.state && later.events.length === intent.events.length) return;
    Object.assign(intent, later);
    swap(view.root, drawIntent(later, redraw));
  });
}

function drawIntent(intent, redraw) {
  const buttons = actions(intent).map(({ title, run, isPrimary }) => {
    const act = async () => {
      const decided = await run();
      if (decided) redraw(decided);
    };
    return button(title, act, { class: isPrimary && "primary", "data-keep": title });
  });
  return [
    el(
      "p",
      { class: "trail" },
      link(address(["intents"], { state: intent.state }), isApproverOnly() ? "Approvals" : "Intents"),
    ),
    el(
      "header",
      { class: "title" },
      el("h1", {}, name(intent.key ?? intent.id)),
      stateOf(intent.state),
      el("div", { class: "buttons" }, buttons),
    ),
    el("p", { class: "lead" }, name(intent.reason)),
    intent.state === "unknown" && doubt(intent),
    drawFacts(intent),
    intent.request &&
      el(
        "section",
        {},
        el("h2", {}, "Request"),
        request(intent.request, `/api/v1/intents/${segment(intent.id)}/body`, `${intent.id}.bin`),
      ),
    drawCompensation(intent),
    intent.response && el("section", {}, el("h2", {}, "Answer of the API"), response(intent.response)),
    intent.evidence !== null &&
      intent.evidence !== undefined &&
      el(
        "section",
        {},
        el("h2", {}, "Evidence"),
        el(
          "pre",
          { class: "body", tabindex: "0" },
          typeof intent.evidence === "string" ? intent.evidence : JSON.stringify(intent.evidence, null, 2),
        ),
      ),
    el("section", {}, el("h2", {}, "Every step"), steps(intent.events)),
  ];
}

function drawFacts(intent) {
  return facts([
    ["Resource", resource(intent)],
    ["Rule", [name(intent.upstream), " / ", name(intent.rule)]],
    ["Epoch", code(intent.epoch)],
    ["Holder", intent.holder && name(intent.holder)],
    ["Principal", intent.principal && name(intent.principal)],
    ["Target", intent.target && code(intent.target)],
    ["Risk", intent.risk && name(intent.risk)],
    ["Attempts", String(intent.attempts)],
    ["Begun", intent.created_at && moment(intent.created_at)],
    ["Last step", intent.updated_at && moment(intent.updated_at)],
    ["Awaited until", intent.deadline && moment(intent.deadline)],
    [
      "Approval",
      intent.approval && [
        intent.approval.verdict,
        intent.approval.by && [" by ", name(intent.approval.by)],
        intent.approval.verdict === "awaited" && [", until ", moment(intent.approval.expires_at)],
      ],
    ],
    // Approvers see no pauses, and so are not led to them.
    ["Held by", intent.held_by && ["a pause of ", name(intent.held_by.stops)]],
    ["Next delivery", intent.next_delivery_at && moment(intent.next_delivery_at)],
    ["Resolved by", intent.resolved_by],
    ["Takes back", intent.compensates && link(address(["intents", intent.compensates]), code(intent.compensates))],
    [
      "Taken back by",
      intent.compensated_by && link(address(["intents", intent.compensated_by]), code(intent.compensated_by)),
    ],
    ["Id", code(intent.id)],
    ["Digest", intent.digest && code(intent.digest)],
  ]);
}

function drawCompensation(intent) {
  const found = intent.compensation;
  if (!found) return null;
  const said = intent.state === "applied" ? "What would take it back" : "What takes it back";
  return el(
    "section",
    {},
    el("h2", {}, said),
    found.request ? request(found.request) : el("p", { class: "quiet" }, name(found.unavailable)),
  );
}
