// What the words of the API mean, and which colour each has.

import { el } from "./dom.js";

/** In the order of the list of states: what a person has to look at comes first. */
export const STATES = {
  awaiting_approval: {
    title: "Awaiting approval",
    tone: "person",
    meaning: "nothing is sent until somebody has seen the request",
  },
  unknown: { title: "Unknown", tone: "person", meaning: "nobody knows whether the API acted" },
  failed: { title: "Failed", tone: "person", meaning: "delivery was given up; it can be sent again" },
  in_flight: { title: "In flight", tone: "live", meaning: "on its way to the API" },
  queued: { title: "Queued", tone: "live", meaning: "taken, and delivered in the resource's order" },
  compensating: { title: "Compensating", tone: "live", meaning: "what takes it back is under way" },
  applied: { title: "Applied", tone: "done", meaning: "the API did it" },
  not_applied: { title: "Not applied", tone: "calm", meaning: "the API did not do it; the key is free" },
  compensated: { title: "Compensated", tone: "calm", meaning: "it was done, and taken back" },
  denied: { title: "Denied", tone: "calm", meaning: "somebody said no; it is never sent" },
  expired: { title: "Expired", tone: "calm", meaning: "nobody approved it in time" },
  superseded: { title: "Superseded", tone: "calm", meaning: "overtaken by a newer epoch before it was sent" },
};

/** A state as a word with its mark. */
export function stateOf(state) {
  const known = STATES[state] ?? { title: String(state).replaceAll("_", " "), tone: "calm" };
  return el("span", { class: `badge ${known.tone}`, title: known.meaning }, known.title);
}

const TONES = new Map([
  ["forwarded", "done"],
  ["passed", "done"],
  ["queued", "done"],
  ["granted", "done"],
  ["renewed", "done"],
  ["released", "done"],
  ["replayed", "calm"],
  ["observed", "calm"],
  ["awaiting-approval", "person"],
  ["outcome-unknown", "person"],
  ["store-unavailable", "bad"],
  ["store-regressed", "bad"],
  ["internal-error", "bad"],
]);

/** How a decision counts: done, calm (answered here), person (somebody has to look), bad (refused). */
export function toneOf(decision) {
  return TONES.get(decision) ?? "bad";
}

/** What happens to a resource's epoch. */
export const EPOCHS = {
  granted: "lease granted",
  renewed: "lease renewed",
  released: "lease given back",
  registered: "epoch registered",
  advanced: "epoch raised by an operator",
  reset: "epoch forgotten by an operator",
};

const STEPS = {
  ...EPOCHS,
  paused: "was paused",
  resumed: "goes on",
  quarantined: "came too late and was kept",
  refused: "was refused",
  dropped: "dropped from quarantine",
  regressed: "the store has lost what it acknowledged",
  accepted: "the store’s loss was accepted",
};
const ALARMING = new Set(["refused", "quarantined", "regressed"]);

/** Why the fence refused, in words. */
export const REFUSALS = {
  "stale-epoch": "a newer epoch had come",
  "holder-mismatch": "the epoch belongs to another holder",
  "lease-expired": "its lease had ended",
};

/** Whether a write came and the fence let it go no further. */
export function isRefusal(event) {
  return event.to === "refused" || event.to === "quarantined";
}

/** The colour of a step. */
export function toneOfStep(event) {
  if (isIncident(event) || ALARMING.has(event.to)) return "bad";
  return STATES[event.to]?.tone ?? "calm";
}

/** The reason of a step, with its meaning where it is a word of the gateway's. */
export function reasonOf(event) {
  const meaning = isRefusal(event) && REFUSALS[event.reason];
  return meaning ? `${event.reason}: ${meaning}` : event.reason;
}

/** A step of the audit trail in words. */
export function stepOf(event) {
  if (isIncident(event)) return "incident";
  const to = STATES[event.to]?.title.toLowerCase() ?? STEPS[event.to] ?? String(event.to).replaceAll("_", " ");
  const from = STATES[event.from]?.title.toLowerCase();
  if (from === to) return `still ${to}`;
  return from ? `${from} → ${to}` : to;
}

/** Whether a step is what the gateway exists to prevent, found out: it changes no state. */
export function isIncident(event) {
  return event.from === event.to && /^(duplicate-effect|late-write|store-regressed)\b/.test(event.reason);
}

/** A number as it is written, in groups of three digits: amounts are texts that may be longer than numbers can be. */
export function grouped(number) {
  const [whole, ...rest] = String(number).split(".");
  return [whole.replace(/\B(?=(\d{3})+$)/g, ","), ...rest].join(".");
}
