// The story of a resource, made of its steps in the audit trail: who ruled it when, and what became of each write.
//
// A lane is an epoch: its reign lasts until a newer one begins. A thread is one intent (or a write without a key)
// within a lane: stretches of states, of which `in_flight` is from admission to settlement. Marks are what has no length.

import { Leases, before } from "./leases.js";
import { ms } from "./time.js";
import { STATES, isIncident, isRefusal } from "./words.js";

const LASTING = new Set(["awaiting_approval", "queued", "in_flight", "unknown", "compensating"]);
// An epoch of a lease is the store's clock in milliseconds, as far as it can be: larger than these it tells its grant.
const FIRST_CLOCK_MS = Date.UTC(2020, 0);
const BEGINNINGS = new Set(["granted", "registered", "advanced"]);
// A late result is kept right after its write was refused.
const KEPT_WITHIN_MS = 5000;

/** `events`: the API's, in any order. `resource`: as it is now. `now_ms`: of the store's clock, about. */
export function tell(events, resource, now_ms) {
  const telling = new Telling();
  for (const event of [...events].sort((a, b) => a.number - b.number)) telling.hear(event);
  if (resource.epoch !== "0") telling.lane(resource.epoch, resource.holder).isRuling = true;
  const lanes = telling.ordered(resource, now_ms);
  return { lanes, pauses: telling.pauses, ...span(lanes, telling.pauses, now_ms) };
}

class Telling {
  lanes = new Map();
  pauses = [];
  leases = new Leases();
  // The stretch that is not over yet, by intent: an intent may go on under a newer epoch.
  open = new Map();

  lane(epoch, holder) {
    if (!this.lanes.has(epoch))
      this.lanes.set(epoch, { epoch, holder: null, isRuling: false, threads: new Map(), marks: [], leases: [] });
    const lane = this.lanes.get(epoch);
    lane.holder ??= holder || null;
    return lane;
  }

  hear(event) {
    if (event.to === "paused" || event.to === "resumed") return this.pause(event);
    if (!event.epoch) return;
    // Whoever was refused only said that the epoch was its own.
    const lane = this.lane(event.epoch, isRefusal(event) ? null : event.holder);
    lane.isRuling ||= !isRefusal(event);
    if (event.to in STATES) this.step(lane, event);
    else this.mark(lane, event);
  }

  step(lane, event) {
    const at = ms(event.at);
    const begun = this.open.get(event.intent);
    if (!event.from) this.leases.lived(lane, at);
    if (event.from === event.to && (isIncident(event) || !begun)) {
      lane.marks.push({ at, kind: isIncident(event) ? "incident" : "noted", event });
      return;
    }
    if (begun) {
      Object.assign(begun, { to: at, outcome: event.to, end: event });
      this.open.delete(event.intent);
    }
    // One that stays in its state goes on in the lane of the epoch that has taken it over.
    const thread = this.thread(lane, event);
    if (LASTING.has(event.to)) {
      const stretch = { from: at, to: null, state: event.to, outcome: null, begin: event, end: null };
      thread.stretches.push(stretch);
      this.open.set(event.intent, stretch);
    } else if (event.from === "in_flight" && begun?.state !== "in_flight") {
      // Its beginning is not among the steps that were read.
      thread.stretches.push({ from: at, to: at, state: "in_flight", outcome: event.to, begin: null, end: event });
    } else if (event.from !== "in_flight") {
      thread.marks.push({ at, kind: event.to, event });
    }
  }

  thread(lane, event) {
    if (!lane.threads.has(event.intent)) lane.threads.set(event.intent, { id: event.intent, stretches: [], marks: [] });
    return lane.threads.get(event.intent);
  }

  mark(lane, event) {
    const at = ms(event.at);
    if (event.to === "dropped") return;
    if (event.to === "granted") this.leases.grant(lane, event);
    if (event.to === "released") this.leases.release(event);
    if (event.to === "advanced") this.leases.raise(event);
    const refused = event.to === "quarantined" && lane.marks.findLast((mark) => mark.kind === "refused");
    const isOne = refused && refused.event.reason === event.reason && at - refused.at < KEPT_WITHIN_MS;
    if (isOne) Object.assign(refused, { kind: event.to, event });
    else lane.marks.push({ at, kind: event.to, event });
  }

  pause(event) {
    const at = ms(event.at);
    if (event.to === "paused") this.pauses.push({ id: event.intent, from: at, to: null, event });
    const begun = this.pauses.find((each) => each.id === event.intent && each.to === null);
    if (event.to === "resumed" && begun) begun.to = at;
  }

  ordered(resource, now_ms) {
    const all = [...this.lanes.values()].sort((a, b) => (BigInt(a.epoch) < BigInt(b.epoch) ? -1 : 1));
    const lanes = all.filter((lane) => lane.isRuling);
    for (const lane of lanes) {
      lane.threads = [...lane.threads.values()];
      Object.assign(lane, beginning(lane, now_ms));
    }
    for (const [at, lane] of lanes.entries()) {
      lane.next = lanes.slice(at + 1).find((newer) => newer.begin >= lane.begin) ?? null;
      lane.end = lane.next?.begin ?? null;
      lane.rows = inRows(lane.threads, now_ms);
      if (lane.epoch === resource.epoch) this.leases.now(lane, ms(resource.lease?.expires_at));
    }
    return [...strangers(all.filter((lane) => !lane.isRuling)), ...lanes];
  }
}

/** One lane for all that was refused under epochs of which nothing else is in the trail: they may never have ruled. */
function strangers(lanes) {
  const marks = lanes.flatMap((lane) => lane.marks);
  if (!marks.length) return [];
  const begin = Math.min(...marks.map((mark) => mark.at));
  const nothing = {
    epoch: null,
    holder: null,
    isRuling: false,
    threads: [],
    leases: [],
    rows: 0,
    end: null,
    next: null,
  };
  return [{ ...nothing, marks, begin, grant: null }];
}

/** When an epoch began to rule: by its grant, or by its own number, or by the first that was seen of it. */
function beginning(lane, now_ms) {
  const grant = lane.marks.find((mark) => BEGINNINGS.has(mark.kind)) ?? null;
  const before_it = grant?.kind === "granted" ? before(grant.event) : null;
  if (grant) return { begin: grant.at, isTold: true, grant, before: before_it };
  const seen = [
    ...lane.marks.map((mark) => mark.at),
    ...lane.threads.flatMap((thread) => [
      ...thread.stretches.map((each) => each.from),
      ...thread.marks.map((each) => each.at),
    ]),
  ];
  const first = seen.length ? Math.min(...seen) : now_ms;
  const clock = Number(lane.epoch);
  const isTold = clock > FIRST_CLOCK_MS && clock <= first;
  return { begin: isTold ? clock : first, isTold, grant, before: before_it };
}

/** Threads beside each other where they overlap: each gets the first row that is free. */
function inRows(threads, now_ms) {
  const ends = [];
  for (const thread of threads) {
    const all = [...thread.stretches, ...thread.marks.map((mark) => ({ from: mark.at, to: mark.at }))];
    const from = Math.min(...all.map((each) => each.from));
    const to = Math.max(...all.map((each) => each.to ?? now_ms));
    const free = ends.findIndex((end) => end < from);
    thread.row = free < 0 ? ends.length : free;
    ends[thread.row] = to;
  }
  return ends.length;
}

/** From when to when there is anything to see, and the instants at which something happened. */
function span(lanes, pauses, now_ms) {
  const instants = pauses.flatMap((each) => [each.from, each.to ?? now_ms]);
  let isLive = pauses.some((each) => each.to === null);
  for (const lane of lanes) {
    instants.push(lane.begin, ...lane.marks.map((mark) => mark.at));
    for (const thread of lane.threads) {
      instants.push(...thread.marks.map((mark) => mark.at));
      for (const each of thread.stretches) {
        instants.push(each.from, each.to ?? now_ms);
        isLive ||= each.to === null;
      }
    }
  }
  if (isLive || !instants.length) instants.push(now_ms);
  return { instants: instants.sort((a, b) => a - b), from: instants[0], to: instants.at(-1), isLive };
}
