// What every page needs to know of the gateway now: whether it is there, and what waits for a person. Asked in one
// place, and remembered for as long as the console is open.

import { text } from "./api.js";
import { headers, isApproverOnly } from "./credentials.js";
import { quantile, readMetrics, total, totals } from "./metrics.js";

const FAST_MS = 2000;
const SLOW_MS = 5000;
// Two readings that are closer say nothing of a rate: pages ask beside the clock, whenever something was done.
const NEAR_MS = 500;
// What a person remembers of a curve.
const KEPT_MS = 120_000;

export const vitals = {
  /** `up`, `away` (the store), `unreachable`, or null before the first answer. */
  state: null,
  samples: null,
  history: [],
  isFast: false,
};

const hearers = new Set();
let timer = 0;
let last = null;

/** Call `hear` now and whenever there is news, until `signal` ends. */
export function follow(hear, signal) {
  hearers.add(hear);
  signal?.addEventListener("abort", () => hearers.delete(hear));
  if (vitals.state) hear();
}

/** Ask more often, as long as `signal` lasts. */
export function hurry(signal) {
  vitals.isFast = true;
  signal.addEventListener("abort", () => (vitals.isFast = false));
  look();
}

export async function look() {
  clearTimeout(timer);
  if (isApproverOnly()) tellAll();
  else if (document.visibilityState === "visible") await read();
  clearTimeout(timer);
  // Whoever waits for the store to come back is not made to wait for the console too.
  timer = setTimeout(look, vitals.isFast || vitals.state !== "up" ? FAST_MS : SLOW_MS);
}

async function read() {
  const asker = JSON.stringify(headers());
  // Who has left meanwhile, or come as somebody else, did not ask.
  const isGone = () => asker !== JSON.stringify(headers());
  try {
    const samples = readMetrics(await text("/metrics"));
    if (isGone()) return;
    const at = performance.now();
    const since_ms = last ? at - last.at : Infinity;
    // A reading after a long silence says nothing of any moment.
    if (since_ms >= NEAR_MS && since_ms < 2 * SLOW_MS) keep(measured(last, { at, samples }));
    if (since_ms >= NEAR_MS) last = { at, samples };
    vitals.samples = samples;
    vitals.state = total(samples, "fencegate_store_up") > 0 ? "up" : "away";
  } catch (error) {
    if (isGone()) return;
    // Whoever is not signed in is told so by the page.
    vitals.state = error.status === 401 ? null : "unreachable";
  }
  tellAll();
}

function tellAll() {
  for (const hear of hearers) hear();
}

function keep(point) {
  vitals.history.push(point);
  while (point.at - vitals.history[0].at > KEPT_MS) vitals.history.shift();
}

function measured(before, after) {
  const seconds = (after.at - before.at) / 1000;
  const rate = (metric) => Math.max(0, total(after.samples, metric) - total(before.samples, metric)) / seconds;
  const decided = since(before, after, "fencegate_requests_total", "decision");
  const tail = (metric, share) => quantile(before.samples, after.samples, metric, share);
  return {
    at: after.at,
    requests: rate("fencegate_requests_total"),
    refused: rate("fencegate_fence_rejections_total"),
    replayed: rate("fencegate_dedupe_hits_total"),
    inFlight: total(after.samples, "fencegate_in_flight") + total(after.samples, "fencegate_sessions"),
    waiting: total(after.samples, "fencegate_waiting"),
    shed: since(before, after, "fencegate_shed_total", "what"),
    median: tail("fencegate_request_seconds", 0.5),
    p99: tail("fencegate_request_seconds", 0.99),
    overhead: tail("fencegate_overhead_seconds", 0.99),
    overheadMedian: tail("fencegate_overhead_seconds", 0.5),
    upstream: tail("fencegate_upstream_seconds", 0.99),
    store: tail("fencegate_store_seconds", 0.99),
    decisions: new Map([...decided].map(([decision, count]) => [decision, count / seconds])),
  };
}

/** How much a metric has grown between two readings, by a label's value. */
function since(before, after, metric, label) {
  const earlier = totals(before.samples, metric, label);
  const grown = [...totals(after.samples, metric, label)].map(([value, count]) => [
    value,
    // A gateway that was started anew counts from zero.
    Math.max(0, count - (earlier.get(value) ?? 0)),
  ]);
  return new Map(grown);
}

/** How many intents are in a state; null where nobody knows. */
export function intentsIn(state) {
  return known("fencegate_intents", (labels) => labels.state === state);
}

/** For how many seconds the oldest intent has been in a state; 0 where there is none, or nobody knows. */
export function oldestIn(state) {
  return vitals.samples ? total(vitals.samples, "fencegate_oldest_seconds", (labels) => labels.state === state) : 0;
}

/** Whether the store has lost what it acknowledged, and nobody has accepted that. */
export function isRegressed() {
  return vitals.samples !== null && total(vitals.samples, "fencegate_store_regressed") > 0;
}

/** How many pauses there are; null where nobody knows. */
export function pausesInForce() {
  return known("fencegate_pauses");
}

/** A sum of what the store says; null while it is away. */
function known(metric, fits) {
  return vitals.samples?.has(metric) ? total(vitals.samples, metric, fits) : null;
}
