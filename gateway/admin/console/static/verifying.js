// Whether the audit trail is as it was sealed: asked for by a person, answered in words.

import { post } from "./api.js";
import { el, name, swap } from "./dom.js";
import { mishap } from "./states.js";
import { table } from "./table.js";

const KINDS = {
  changed: "changed since it was sealed",
  missing: "not there any more",
  strange: "not an event of this place",
  gone: "older than what is kept",
};

const COLUMNS = [
  { head: "Wrong", kind: "stepped", cell: (found) => el("b", { class: "step" }, KINDS[found.kind] ?? found.kind) },
  { head: "Shard", cell: (found) => name(found.shard, "code") },
  { head: "Events", cell: (found) => name(`${found.first}–${found.last}`, "code") },
  {
    head: "What",
    kind: "wide",
    cell: (found) => [name(found.what), found.more > 0 && `; so are ${found.more} more of these`],
  },
];

/** The button that asks, and the place in which it is answered. */
export function verifying() {
  const result = el("div", { role: "status" });
  const button = el("button", { type: "button" }, "Verify the trail");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      swap(result, drawn(await verify(result)));
    } catch (error) {
      swap(result, mishap(error));
    } finally {
      button.disabled = false;
    }
  });
  return { button, result };
}

/** Go through all of it, some more with each call, until the page is left. */
async function verify(result) {
  const all = { events: 0, findings: [] };
  let cursor = null;
  do {
    swap(result, progress(all.events));
    const some = await post("/api/v1/audit/verify", { cursor });
    all.events += some.events;
    all.findings.push(...some.findings);
    cursor = some.next;
  } while (cursor !== null && result.isConnected);
  return all;
}

function progress(events) {
  return el("p", { class: "quiet" }, `Going through the trail: ${count(events)} so far.`);
}

function drawn({ events, findings }) {
  if (findings.length) {
    return el(
      "div",
      { class: "notice bad" },
      el("b", {}, `The trail is not as it was sealed: ${places(findings.length)} of ${count(events)}.`),
      el("p", {}, "Somebody wrote into the store beside the gateways, or it lost something. Keep a copy of the store."),
      el("div", { class: "scroll" }, table("What is wrong", COLUMNS, folded(findings))),
    );
  }
  return el(
    "div",
    { class: "notice" },
    el("b", {}, `${count(events)}: none is missing, none was changed since it was sealed.`),
    el(
      "p",
      { class: "quiet" },
      "Each is sealed within about a minute. Whoever can change the seals too is found out by a checkpoint that is kept elsewhere: ",
      el("code", {}, "fencegate audit verify --checkpoint FILE"),
      ".",
    ),
  );
}

/** What follows each other and is wrong in one way: a store that went back has hundreds of one kind. */
function folded(findings) {
  const rows = [];
  for (const found of findings) {
    const last = rows.at(-1);
    if (last?.kind !== found.kind || last.shard !== found.shard) rows.push({ ...found, more: 0 });
    else Object.assign(last, { last: found.last, more: last.more + 1 });
  }
  return rows;
}

function count(events) {
  return `${events.toLocaleString("en-GB")} ${events === 1 ? "event" : "events"}`;
}

function places(number) {
  return number === 1 ? "one place is wrong" : `${number.toLocaleString("en-GB")} places are wrong`;
}
