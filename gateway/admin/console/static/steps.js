// The steps of one write, in their order.

import { code, el, name } from "./dom.js";
import { empty } from "./states.js";
import { moment } from "./time.js";
import { reasonOf, stepOf, toneOfStep } from "./words.js";

/** `events` are the API's, the newest first; shown in the order in which they happened. */
export function steps(events) {
  if (!events.length) return empty("Its steps are no longer in the audit trail.");
  return el(
    "ol",
    { class: "steps" },
    [...events].reverse().map((event) => {
      const said = stepOf(event);
      return el(
        "li",
        { class: toneOfStep(event) },
        moment(event.at, 3),
        el(
          "div",
          {},
          el("b", {}, name(said)),
          said !== event.reason && el("p", {}, name(reasonOf(event))),
          el(
            "small",
            {},
            event.by && ["by ", name(event.by)],
            event.epoch && [" · epoch ", name(event.epoch)],
            event.holder && [" · ", name(event.holder)],
            event.trace_id && [" · trace ", code(event.trace_id)],
          ),
        ),
      );
    }),
  );
}
