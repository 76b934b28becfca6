// The first page: what goes through, how long it takes, and what waits for a person.

import { get } from "./api.js";
import { el, swap } from "./dom.js";
import { notices } from "./health.js";
import { address } from "./router.js";
import { sparkline } from "./sparkline.js";
import { empty, loading } from "./states.js";
import { table } from "./table.js";
import { duration, latency } from "./time.js";
import { total, totals } from "./metrics.js";
import { follow, hurry, intentsIn, oldestIn, pausesInForce, vitals } from "./vitals.js";
import { toneOf } from "./words.js";

const ROOM = 60;
// What is not counted by a metric is asked for more rarely.
const LISTS_MS = 10_000;
// Nobody need hurry before.
const OLD_S = 60;

export async function showNow(view) {
  const troubles = el("div");
  const waiting = el("div", { class: "waiting" }, loading());
  const curves = el("div", { class: "curves" });
  const decisions = el("div", {}, loading());
  swap(
    view.root,
    el("h1", {}, "Now"),
    troubles,
    el("section", { "aria-labelledby": "waits" }, el("h2", { id: "waits" }, "Waits for a person"), waiting),
    el("section", { "aria-labelledby": "flow" }, el("h2", { id: "flow" }, "Last two minutes, at this gateway"), curves),
    el("section", { "aria-labelledby": "decided" }, el("h2", { id: "decided" }, "Decisions of this gateway"), decisions),
  );
  const lists = { late: null, dead: null, store: null, reasons: [] };
  const draw = () => {
    if (!document.querySelector("dialog[open]")) swap(troubles, notices(lists.store, lists.reasons, ask));
    if (!vitals.samples) return;
    swap(waiting, drawWaiting(lists));
    swap(curves, drawCurves());
    swap(decisions, drawDecisions());
  };
  const ask = async () => {
    await askLists(lists, view.signal);
    draw();
  };
  let seen = vitals.state;
  const hear = () => {
    draw();
    if (vitals.state === seen) return;
    seen = vitals.state;
    // What went or came back changes all of it.
    ask().catch(() => {});
  };
  follow(hear, view.signal);
  hurry(view.signal);
  view.every(LISTS_MS, ask);
  await ask();
}

async function askLists(lists, signal) {
  const asked = async (path) => {
    try {
      return await get(path, {}, signal);
    } catch (error) {
      // The alarm above says that the store is away; one that has no token is asked for it.
      if (error.status === 401 || error.name === "AbortError") throw error;
      return null;
    }
  };
  const paths = ["/api/v1/quarantine", "/api/v1/notifications", "/api/v1/store"];
  const [reasons, ...found] = await Promise.all([askReasons(signal), ...paths.map(asked)]);
  [lists.late, lists.dead, lists.store] = found;
  lists.reasons = reasons;
}

/** Why writes cannot pass now, as `/readyz` says it. */
async function askReasons(signal) {
  try {
    await get("/readyz", {}, signal);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return error.members?.reasons ?? [];
  }
  return [];
}

function drawWaiting(lists) {
  const incidents = total(vitals.samples, "fencegate_incidents_total");
  const lines = [
    ofState("awaiting_approval", "write to approve", "writes to approve"),
    ofState("unknown", "write of unknown outcome", "writes of unknown outcome"),
    ofState("failed", "failed delivery", "failed deliveries"),
    [
      "person",
      lists.late?.items.length ?? null,
      "late result in quarantine",
      "late results in quarantine",
      address(["quarantine"]),
      { isMore: lists.late?.next },
    ],
    [
      "bad",
      lists.dead?.items.length ?? null,
      "notification nobody took",
      "notifications nobody took",
      address(["notifications"]),
      { isMore: lists.dead?.next },
    ],
    ["bad", pausesInForce(), "pause in force", "pauses in force", address(["pauses"])],
    ["bad", incidents, "incident since the start", "incidents since the start", address(["audit"])],
  ];
  const open = lines.filter(([, number]) => number !== 0);
  if (!open.length) return empty("Nothing waits for you.");
  return el(
    "ul",
    { class: "todo" },
    open.map(([tone, number, one, many, href, { isMore = false, oldest_s = 0 } = {}]) =>
      el(
        "li",
        {},
        el(
          "a",
          { href, class: tone, "data-keep": many },
          el("b", {}, number === null ? "?" : `${number.toLocaleString("en-GB")}${isMore ? "+" : ""}`),
          el("span", {}, number === 1 ? one : many),
          // Younger ones are still being looked at.
          oldest_s >= OLD_S &&
            el("small", {}, `${number === 1 ? "for" : "the oldest for"} ${duration(1000 * oldest_s)}`),
        ),
      ),
    ),
  );
}

/** The intents of a state that waits for a person, and how long the oldest has waited. */
function ofState(state, one, many) {
  const oldest_s = oldestIn(state);
  return ["person", intentsIn(state), one, many, address(["intents"], { state }), { oldest_s }];
}

function drawCurves() {
  const latest = vitals.history.at(-1);
  const of = (member) => vitals.history.map((point) => point[member]);
  const curve = (title, member, shown, note) =>
    el(
      "figure",
      { class: "curve" },
      el("figcaption", {}, el("span", {}, title), el("b", {}, latest ? shown(latest[member]) : "–")),
      sparkline(of(member), ROOM, `${title}, last two minutes`),
      el("small", {}, note),
    );
  const peak = (member, shown) => {
    const known = of(member).filter((value) => value !== null);
    return known.length ? `at most ${shown(Math.max(...known))}` : "nothing measured yet";
  };
  const half = (member) => {
    const known = of(member).findLast((value) => value !== null);
    return known === undefined ? "nothing measured yet" : `median ${latency(known)}`;
  };
  return [
    curve("Requests", "requests", perSecond, peak("requests", perSecond)),
    curve("Refused by the fence", "refused", perSecond, peak("refused", perSecond)),
    curve("Replayed", "replayed", perSecond, peak("replayed", perSecond)),
    curve("In flight", "inFlight", whole, latest?.waiting ? `${whole(latest.waiting)} wait` : peak("inFlight", whole)),
    curve("Request, p99", "p99", latency, half("median")),
    curve("Gateway alone, p99", "overhead", latency, half("overheadMedian")),
    curve("Upstream, p99", "upstream", latency, peak("upstream", latency)),
    curve("Store, p99", "store", latency, peak("store", latency)),
  ];
}

function drawDecisions() {
  const sums = [...totals(vitals.samples, "fencegate_requests_total", "decision")].sort((a, b) => b[1] - a[1]);
  if (!sums.length) return empty("No request has come yet.");
  const all = sums.reduce((sum, [, number]) => sum + number, 0);
  const rates = vitals.history.at(-1)?.decisions ?? new Map();
  return table(
    "Decisions",
    [
      { head: "Decision", cell: ([decision]) => el("span", { class: `badge ${toneOf(decision)}` }, decision) },
      { head: "Now", kind: "number", cell: ([decision]) => perSecond(rates.get(decision) ?? 0) },
      { head: "Since the start", kind: "number", cell: ([, number]) => number.toLocaleString("en-GB") },
      { head: "Share", kind: "share", cell: ([decision, number]) => share(number / all, toneOf(decision)) },
    ],
    sums,
  );
}

function share(part, tone) {
  const percent = part < 0.001 ? "< 0.1 %" : `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
  return [el("meter", { class: tone, min: 0, max: 1, value: part, "aria-label": "Share" }), el("span", {}, percent)];
}

function perSecond(value) {
  if (value === 0) return "0/s";
  return `${value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en-GB")}/s`;
}

function whole(value) {
  return value.toLocaleString("en-GB");
}
