// What a page shows when it has nothing, does not have it yet, or cannot have it.

import { button, el } from "./dom.js";

export function loading() {
  return el(
    "div",
    { class: "state loading", role: "status" },
    el("span", { class: "hidden" }, "Loading"),
    el("i"),
    el("i"),
    el("i"),
  );
}

export function empty(text, ...more) {
  return el("div", { class: "state empty" }, el("p", {}, text), more);
}

const TITLES = {
  unreachable: "No answer from the gateway",
  "store-unavailable": "The store is away",
  unauthenticated: "This needs to be signed in",
  forbidden: "This is not yours to see",
};
// What ends without anybody's doing here.
const PASSING = new Set(["unreachable", "store-unavailable"]);
const AGAIN_MS = 4000;
const BESIDE = {
  "store-unavailable":
    "Writes are refused until it is back, and reads pass. Whether it then has all that it had, the gateway finds out.",
};

/** An error in the place of what it is about. `again` tries anew: by a button, and by itself where that may help. */
export function failure(error, again) {
  const title = TITLES[error.kind] ?? (error.status === 404 ? "It is not there" : "That did not work");
  const shown = el(
    "div",
    { class: "state failed", role: "alert" },
    el("h2", {}, title),
    el("p", {}, error.message),
    BESIDE[error.kind] && el("p", { class: "quiet" }, BESIDE[error.kind]),
    error.status !== 400 && el("p", {}, button("Try again", again)),
  );
  if (PASSING.has(error.kind)) setTimeout(() => shown.isConnected && again(), AGAIN_MS);
  return shown;
}

/** An error beside what is shown, which stays. */
export function mishap(error) {
  return el("p", { class: "mishap", role: "alert" }, error.message);
}
