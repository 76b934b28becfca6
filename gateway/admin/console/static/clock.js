// What time it is at the gateway: an operator's own clock may be wrong, and leases end by the other one.

// `Date` counts whole seconds, and an answer takes its time.
const COARSE_MS = 2000;

let ahead = 0;

/** Compare the clocks by an answer's `Date`. */
export function compare(date) {
  const difference = Date.parse(date ?? "") - Date.now();
  if (Number.isFinite(difference)) ahead = Math.abs(difference) < COARSE_MS ? 0 : difference;
}

/** Milliseconds since 1970, as the gateway counts them, about. */
export function now() {
  return Date.now() + ahead;
}
