// What every page needs to know of the gateway now: whether it is there, and what waits for a person. Asked in one
// place, and remembered for as long as the console is open.

import { text } from "./api.js";
import { isApproverOnly } from "./credentials.js";
import { quantile, readMetrics, total, totals } from "./metrics.js";

const FAST_MS = 2000;
const SLOW_MS = 10_000;
// Two minutes: what a person remembers of a curve.
const KEPT = 60;

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
  if (document.visibilityState === "visible" && !isApproverOnly()) await read();
  clearTimeout(timer);
  timer = setTimeout(look, vitals.isFast ? FAST_MS : SLOW_MS);
}

async function read() {
  try {
    const samples = readMetrics(await text("/metrics"));
    const at = performance.now();
    // A reading after a long silence says nothing of any moment.
    if (last && at - last.at < 2 * SLOW_MS) keep(measured(last, { at, samples }));
    last = { at, samples };
    vitals.samples = samples;
    vitals.state = total(samples, "fencegate_store_up") > 0 ? "up" : "away";
  } catch (error) {
    // Whoever is not signed in is told so by the page.
    vitals.state = error.status === 401 ? null : "unreachable";
  }
  for (const hear of hearers) hear();
}

function keep(point) {
  vitals.history.push(point);
  if (vitals.history.length > KEPT) vitals.history.shift();
}

function measured(before, after) {
  const seconds = (after.at - before.at) / 1000;
  const rate = (metric) => Math.max(0, total(after.samples, metric) - total(before.samples, metric)) / seconds;
  const tail = (metric, share) => quantile(before.samples, after.samples, metric, share);
  return {
    at: after.at,
    requests: rate("fencegate_requests_total"),
    refused: rate("fencegate_fence_rejections_total"),
    replayed: rate("fencegate_dedupe_hits_total"),
    inFlight: total(after.samples, "fencegate_in_flight") + total(after.samples, "fencegate_sessions"),
    median: tail("fencegate_request_seconds", 0.5),
    p99: tail("fencegate_request_seconds", 0.99),
    upstream: tail("fencegate_upstream_seconds", 0.99),
    store: tail("fencegate_store_seconds", 0.99),
    decisions: since(before, after, seconds),
  };
}

function since(before, after, seconds) {
  const earlier = totals(before.samples, "fencegate_requests_total", "decision");
  const grown = [...totals(after.samples, "fencegate_requests_total", "decision")].map(([decision, count]) => [
    decision,
    Math.max(0, count - (earlier.get(decision) ?? 0)) / seconds,
  ]);
  return new Map(grown);
}

/** How many intents are in a state; null where nobody knows. */
export function intentsIn(state) {
  if (!vitals.samples?.has("fencegate_intents")) return null;
  return total(vitals.samples, "fencegate_intents", (labels) => labels.state === state);
}

export function pausesInForce() {
  return vitals.samples ? total(vitals.samples, "fencegate_pauses") : null;
}
