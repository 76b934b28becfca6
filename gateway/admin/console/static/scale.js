// Time as a line on which long silences are folded, so that a story of two seconds a day apart can be read.

import { clock, day } from "./time.js";

// A silence is folded that is this much longer than most, and either nobody would wait it out, or it would leave the
// rest no room.
const LONGER_THAN_MOST = 8;
const FOLDED_MS = 10_000;
const FOLDED_PART = 0.25;
// Of the whole width: a fold, and all of them.
const FOLD = 0.09;
const FOLDS = 0.45;
// Air before the first and after the last instant.
const BEFORE = 0.03;
const AFTER = 0.08;

const STEPS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 18e5, 36e5, 72e5, 216e5,
  432e5, 864e5, 1728e5, 6048e5,
];
const LABEL_PX = 92;
const FOLD_LABEL_PX = 72;

export class Scale {
  /** `instants` in their order. The whole is 0 to 1; `window` is the part of it that is looked at. */
  constructor(instants, width, window) {
    this.width = width;
    this.window = window;
    this.pieces = pieces(instants);
  }

  /** Pixels. */
  x(at_ms) {
    return ((this.whole(at_ms) - this.window.from) / (this.window.to - this.window.from)) * this.width;
  }

  whole(at_ms) {
    const piece = this.pieces.find((each) => at_ms <= each.to) ?? this.pieces.at(-1);
    const within = piece.to > piece.from ? (at_ms - piece.from) / (piece.to - piece.from) : 0.5;
    return piece.u0 + Math.max(piece === this.pieces[0] ? -1 : 0, Math.min(1, within)) * (piece.u1 - piece.u0);
  }

  folds() {
    return this.pieces
      .filter((each) => each.isFold)
      .map((each) => ({
        from: this.x(each.from),
        to: this.x(each.to),
        span: each.to - each.from,
      }));
  }

  /** The folds whose labels do not touch. */
  labelled() {
    let taken = -Infinity;
    return this.folds().filter(({ from, to }) => {
      const middle = (from + to) / 2;
      if (middle - FOLD_LABEL_PX / 2 < taken) return false;
      taken = middle + FOLD_LABEL_PX / 2;
      return true;
    });
  }

  /** {x, label} for an axis whose labels do not touch. */
  ticks() {
    const open = this.pieces.filter((each) => !each.isFold);
    const span = open.reduce((sum, each) => sum + each.to - each.from, 0) || 1;
    const share = open.reduce((sum, each) => sum + each.u1 - each.u0, 0);
    const pxPerMs = (this.width * share) / (this.window.to - this.window.from) / span;
    const step = STEPS_MS.find((each) => each * pxPerMs >= LABEL_PX) ?? STEPS_MS.at(-1);
    const found = [];
    for (const piece of open) {
      const marks = [];
      // Steps count from local midnight, so that hours are whole ones.
      const shift = new Date(piece.from).getTimezoneOffset() * 60_000;
      for (let at = Math.ceil((piece.from - shift) / step) * step + shift; at <= piece.to; at += step) {
        if (marks.push(at) > 400) break;
      }
      if (!marks.length) marks.push(piece.from);
      found.push(...marks.map((at) => ({ x: this.x(at), at })));
    }
    return spaced(found, this.width, this.folds()).map((tick) => ({ ...tick, label: label(tick.at, step) }));
  }
}

function spaced(ticks, width, folds) {
  let taken = -Infinity;
  return ticks.filter((tick) => {
    if (folds.some((fold) => Math.abs((fold.from + fold.to) / 2 - tick.x) < LABEL_PX * 0.7)) return false;
    if (tick.x < 0 || tick.x > width) return false;
    const from = tick.x - LABEL_PX * 0.9 * { start: 0, middle: 0.5, end: 1 }[anchor(tick.x, width)];
    if (from < taken) return false;
    taken = from + LABEL_PX * 0.9;
    return true;
  });
}

/** Where a label stands at its line: at an edge beside it, so that nothing of it is cut off. */
export function anchor(x, width) {
  if (x < 40) return "start";
  return x > width - 40 ? "end" : "middle";
}

function label(at, step) {
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  if (step >= 864e5) return day(at);
  const time = step < 1000 ? clock(at, step < 100 ? 3 : 1) : step < 6e4 ? clock(at) : clock(at).slice(0, 5);
  return isToday ? time : `${day(at)} ${time}`;
}

function pieces(instants) {
  const { ends, gaps } = measured(instants);
  const folds = gaps.filter((gap) => gap.isFold);
  const fold = folds.length ? Math.min(FOLD, FOLDS / folds.length) : 0;
  const open = gaps.filter((gap) => !gap.isFold).reduce((sum, gap) => sum + gap.to - gap.from, 0) || 1;
  const room = 1 - BEFORE - AFTER - fold * folds.length;
  const found = [];
  let u = BEFORE;
  for (const gap of gaps.length ? gaps : [{ ...ends, isFold: false }]) {
    const share = gap.isFold ? fold : (room * (gap.to - gap.from)) / open;
    const last = found.at(-1);
    if (last && !last.isFold && !gap.isFold) Object.assign(last, { to: gap.to, u1: u + share });
    else found.push({ ...gap, u0: u, u1: u + share });
    u += share;
  }
  return found;
}

function measured(instants) {
  const from = instants[0] ?? Date.now();
  // A single instant is seen within a second.
  const all = instants.length && instants.at(-1) > from ? [...new Set(instants)] : [from - 500, from + 500];
  const gaps = all.slice(1).map((to, at) => ({ from: all[at], to }));
  const lengths = gaps.map((gap) => gap.to - gap.from).sort((a, b) => a - b);
  const most = lengths[Math.floor((lengths.length - 1) / 2)];
  const least = Math.min(FOLDED_MS, FOLDED_PART * (all.at(-1) - all[0]));
  for (const gap of gaps) gap.isFold = gap.to - gap.from > Math.max(least, LONGER_THAN_MOST * most);
  return { ends: { from: all[0], to: all.at(-1) }, gaps };
}
