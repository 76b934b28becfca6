// The store: whether it has lost what it acknowledged, and the way to go on where it has.

import { get, post } from "./api.js";
import { confirm, note } from "./dialog.js";
import { button, el, name } from "./dom.js";
import { moment } from "./time.js";

/** What to do about a loss that nobody has accepted yet; null where nothing is missing. `store`: the API's, or null. */
export function lossNotice(store, redraw) {
  if (!store?.regressed) return null;
  const lost = store.servers.filter((server) => server.loss && !server.loss.accepted_at);
  return el(
    "div",
    { class: "notice bad" },
    el("b", {}, "The store has lost what it acknowledged. Writes that it may have forgotten about are refused."),
    el(
      "ul",
      {},
      lost.map(({ loss }) => el("li", {}, "Since ", moment(loss.since), ": ", name(loss.why))),
      el(
        "li",
        {},
        "Agents: writes under leases and keys from before are answered 503 ",
        el("code", {}, "store-regressed"),
        "; who takes a new lease writes. Reads pass.",
      ),
      el(
        "li",
        {},
        "To do: see what was done in the time that was lost (the gateways’ logs, and the APIs themselves), stop agents that would repeat it, then go on.",
      ),
    ),
    el(
      "p",
      {},
      button("Go on after the loss", async () => (await accept(lost)) && redraw(), {
        class: "grave",
        "data-keep": "accept",
      }),
    ),
  );
}

function accept(lost) {
  // Epochs pass what numbers hold.
  const floor = lost.map(({ loss }) => loss.floor).reduce((one, other) => (BigInt(one) < BigInt(other) ? other : one));
  return confirm({
    title: "Go on after the loss",
    body: [
      el(
        "p",
        {},
        "All writes go on. Leases from before the loss have ended for good, and what waited in the store is unknown from now on.",
      ),
      el(
        "p",
        { class: "caution" },
        "First make sure that agents do not repeat under the same key what was done in the time that was lost.",
      ),
    ],
    fields: [note("Note", "What you have looked at. It stays in the audit trail.")],
    verb: "Go on",
    isGrave: true,
    act: (given) => acceptOnce(given.note, floor),
  });
}

/** `floor`: the largest of the losses that were looked at. */
async function acceptOnce(note, floor) {
  try {
    return await post("/api/v1/store/accept", { note, floor });
  } catch (error) {
    // Somebody else was faster, or the answer to the first call was lost: either way writes go on, unless another loss
    // was found since.
    if (error.kind !== "wrong-state" || (await get("/api/v1/store")).regressed) throw error;
    return null;
  }
}
