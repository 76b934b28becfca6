// Instants and durations as people read them. Instants are of the store's clock.

import { el } from "./dom.js";

const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const DAY = { month: "short", day: "numeric" };

/** Milliseconds since 1970 of an instant that the API wrote; null where there is none. */
export function ms(instant) {
  return instant ? Date.parse(instant) : null;
}

export function clock(at_ms, fraction = 0) {
  return new Date(at_ms).toLocaleTimeString("en-GB", {
    ...CLOCK,
    ...(fraction && { fractionalSecondDigits: fraction }),
  });
}

export function day(at_ms) {
  return new Date(at_ms).toLocaleDateString("en-GB", DAY);
}

/** An instant: its time today, its day too before that; the whole of it where it is pointed at. */
export function moment(instant, fraction = 0) {
  if (!instant) return el("span", { class: "faint" }, "–");
  const at = ms(instant);
  const isToday = new Date(at).toDateString() === new Date().toDateString();
  const shown = isToday ? clock(at, fraction) : `${day(at)} ${clock(at, fraction)}`;
  return el("time", { datetime: instant, title: new Date(at).toISOString(), class: "moment" }, shown);
}

/** A duration in two units at most. */
export function duration(span_ms) {
  const span = Math.abs(span_ms);
  if (span < 1) return "0 ms";
  if (span < 1000) return `${Math.round(span)} ms`;
  if (span < 10_000) return `${(span / 1000).toFixed(1)} s`;
  const s = Math.round(span / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min${s % 60 ? ` ${s % 60} s` : ""}`;
  if (s < 86_400)
    return `${Math.floor(s / 3600)} h${Math.floor((s % 3600) / 60) ? ` ${Math.floor((s % 3600) / 60)} min` : ""}`;
  return `${Math.floor(s / 86_400)} d${Math.floor((s % 86_400) / 3600) ? ` ${Math.floor((s % 86_400) / 3600)} h` : ""}`;
}

/** Seconds, as latencies are read. */
export function latency(seconds) {
  if (seconds === null || !Number.isFinite(seconds)) return "–";
  if (seconds < 0.001) return `${Math.round(seconds * 1e6)} µs`;
  if (seconds < 0.01) return `${(seconds * 1000).toFixed(1)} ms`;
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
}
