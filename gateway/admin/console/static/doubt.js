// What it means that nobody knows: what was sent and when, what holds until then, and how a person ends it.

import { code, el, name } from "./dom.js";
import { moment } from "./time.js";

/** `intent` is the API's, of state unknown. */
export function doubt(intent) {
  // The newest is the first.
  const sent = intent.events.find((event) => event.to === "in_flight");
  return el(
    "div",
    { class: "notice person" },
    el("b", {}, "Nobody knows whether ", name(intent.upstream), " did it."),
    el(
      "ul",
      {},
      el(
        "li",
        {},
        "Sent: ",
        intent.target ? code(intent.target) : "the write",
        ", ",
        sent ? ["at ", moment(sent.at, 3)] : "at a time that is no longer in the trail",
        intent.attempts > 1 && `, the last of ${intent.attempts} attempts`,
        ". What came back: ",
        name(intent.reason),
        ".",
      ),
      el(
        "li",
        {},
        "Until somebody knows, nothing of it is sent again: who repeats it is answered 409 ",
        el("code", {}, "outcome-unknown"),
        ". Where its rule says ",
        el("code", {}, "after_unknown: hold"),
        ", no other write of ",
        name(intent.resource),
        " passes either.",
      ),
      el(
        "li",
        {},
        "To do: look at the API itself for ",
        code(intent.key ?? intent.id),
        ", then say what you found. If it is there: ",
        el("i", {}, "applied"),
        ", and repeats are told that it is done. If it is not and cannot come any more: ",
        el("i", {}, "not applied"),
        ", and the next repeat is sent.",
      ),
    ),
  );
}
