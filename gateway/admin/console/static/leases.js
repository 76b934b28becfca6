// How long leases lasted, from what the trail says of their grants and their ends. Renewals are not in it: of a lease
// whose end nobody has told only that is known which it allowed.

import { ms } from "./time.js";

const GRANTED = /^for ([\d.e+]+) s(?:, (.*))?$/s;
// How the lease before ended, as a grant tells it. What comes last decides: a holder may be called anything.
const BEFORE = [
  { end: "taken", told: /^taken over from (?<holder>.*) with (?<seconds>[\d.]+) s left$/s },
  { end: "expired", told: /^(?<seconds>[\d.]+) s after the lease of (?<holder>.*) ran out$/s },
  { end: "returned", told: /^(?<holder>.*) had given it back$/s },
  { end: "lost", told: /^the lease of (?<holder>.*) ended with what the store lost$/s },
];
const RAN_OUT = /^([\d.]+) s after it ran out$/;

/** What a grant says of the lease before it: {end, holder, seconds}, or null where there was none. */
export function before(event) {
  const rest = GRANTED.exec(event.reason)?.[2] ?? "";
  for (const { end, told } of BEFORE) {
    const found = told.exec(rest)?.groups;
    if (found) return { end, holder: found.holder, seconds: Number(found.seconds ?? 0) };
  }
  return null;
}

/** The leases of one resource, one after the other: {lane, from, to, end, until}. */
export class Leases {
  // The one whose end is not told yet.
  open = null;

  grant(lane, event) {
    const at = ms(event.at);
    const ended = before(event);
    if (ended) this.close(ended.end === "expired" ? at - 1000 * ended.seconds : at, ended.end);
    const seconds = Number(GRANTED.exec(event.reason)?.[1] ?? 0);
    this.open = { lane, from: at, to: null, end: null, until: at + 1000 * seconds };
    lane.leases.push(this.open);
  }

  release(event) {
    const late = RAN_OUT.exec(event.reason);
    this.close(ms(event.at) - (late ? 1000 * Number(late[1]) : 0), late ? "expired" : "returned");
  }

  /** An operator raised the epoch: the lease ended then, if it had not before. */
  raise(event) {
    const at = ms(event.at);
    if (this.open && at > this.open.until) this.lapse();
    else this.close(at, "raised");
  }

  /** Something was taken under the lane's epoch: its lease lived. */
  lived(lane, at) {
    if (this.open?.lane === lane) this.open.until = Math.max(this.open.until, at);
  }

  /** Now it lives until then; null where none does. `lane`: of the epoch that rules. */
  now(lane, until) {
    if (until === null) return this.lapse();
    if (this.open?.lane !== lane)
      lane.leases.push((this.open = { lane, from: lane.begin, to: null, end: null, until }));
    this.open.until = until;
  }

  lapse() {
    if (this.open) this.close(this.open.until, "unseen");
  }

  close(to, end) {
    if (this.open) Object.assign(this.open, { to: Math.max(this.open.from, to), end });
    this.open = null;
  }
}
