// The audit trail: every step of every write, the newest first.

import { get } from "./api.js";
import { code, el, link, name, swap } from "./dom.js";
import { address, note } from "./router.js";
import { listed } from "./table.js";
import { moment } from "./time.js";
import { verifying } from "./verifying.js";
import { reasonOf, stepOf } from "./words.js";

const SINCE = { "": "Any time", "15m": "Last 15 minutes", "1h": "Last hour", "24h": "Last day", "7d": "Last 7 days" };

const COLUMNS = [
  { head: "At", kind: "number first", cell: (event) => moment(event.at, 3) },
  { head: "Step", kind: "stepped", cell: (event) => el("b", { class: "step" }, name(stepOf(event))) },
  {
    head: "Resource",
    kind: "long",
    cell: (event) => event.resource && link(address(["resources", event.resource]), name(event.resource)),
  },
  { head: "Epoch", cell: (event) => event.epoch && code(event.epoch) },
  { head: "Holder", kind: "some", cell: (event) => event.holder && name(event.holder) },
  { head: "Why", kind: "wide", cell: (event) => event.reason && name(reasonOf(event)) },
  { head: "By", cell: (event) => name(event.by, "code faint") },
  { head: "Of", cell: (event) => event.intent && link(whereOf(event), code(short(event.intent))) },
];

export async function showAudit(view) {
  const resource = input("audit-resource", "resource", "report/7");
  const intent = input("audit-intent", "intent", "id");
  const since = el(
    "select",
    { id: "audit-since" },
    Object.entries(SINCE).map(([value, title]) => el("option", { value }, title)),
  );
  since.value = Object.hasOwn(SINCE, view.query.get("since")) ? view.query.get("since") : "";
  for (const [field, name] of [
    [resource, "resource"],
    [intent, "intent"],
  ])
    field.value = view.query.get(name) ?? "";
  const place = el("div");
  const { button, result } = verifying();
  const search = async (event) => {
    event?.preventDefault();
    const asked = { resource: resource.value, intent: intent.value, since: since.value };
    note(["audit"], asked);
    await listed(place, {
      label: "Audit trail",
      columns: COLUMNS,
      fetchPage: (cursor) => get("/api/v1/audit", { ...asked, cursor }, view.signal),
      none: "No step is in the trail that fits.",
    });
  };
  swap(
    view.root,
    el("header", { class: "title" }, el("h1", {}, "Audit"), el("div", { class: "buttons" }, button)),
    result,
    el(
      "form",
      { class: "tools", on: { submit: search } },
      el("label", { for: resource.id }, "Resource"),
      resource,
      el("label", { for: intent.id }, "Intent"),
      intent,
      el("label", { for: since.id }, "Since"),
      since,
      el("button", {}, "Show"),
    ),
    place,
  );
  await search();
}

function input(id, name, placeholder) {
  return el("input", { id, name, type: "search", placeholder, autocomplete: "off", spellcheck: "false" });
}

/** Where that is shown which the step is of: most are intents. */
function whereOf(event) {
  if (event.to === "quarantined" || event.to === "dropped") return address(["quarantine", event.intent]);
  if (event.to === "paused" || event.to === "resumed") return address(["pauses"]);
  if (event.to === "regressed" || event.to === "accepted") return address(["now"]);
  // What was refused left no record, unless there was one before.
  if (event.to === "refused") return address(["audit"], { intent: event.intent });
  return address(["intents", event.intent]);
}

function short(id) {
  return id.length > 9 ? `${id.slice(0, 8)}…` : id;
}
