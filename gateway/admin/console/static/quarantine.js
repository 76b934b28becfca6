// The quarantine: results that came too late, as they came.

import { get, remove, segment } from "./api.js";
import { confirm, note } from "./dialog.js";
import { button, code, el, link, name, swap } from "./dom.js";
import { request } from "./exchange.js";
import { address, note as noteAddress } from "./router.js";
import { steps } from "./steps.js";
import { facts, listed } from "./table.js";
import { moment } from "./time.js";

export async function showQuarantine(view) {
  if (view.path[1]) await showLate(view, view.path[1]);
  else await showList(view);
}

const COLUMNS = [
  {
    head: "Late write",
    kind: "long",
    cell: (item) => link(address(["quarantine", item.id]), code(`${item.method} ${item.target}`)),
  },
  { head: "Refused as", cell: (item) => el("span", { class: "badge bad" }, item.decision) },
  { head: "Resource", kind: "long", cell: (item) => link(address(["resources", item.resource]), name(item.resource)) },
  { head: "Holder", kind: "some", cell: (item) => name(item.holder) },
  { head: "Size", kind: "number", cell: (item) => size(item) },
  { head: "Came", kind: "number", cell: (item) => moment(item.received_at) },
];

async function showList(view) {
  const resource = el("input", {
    type: "search",
    id: "of",
    value: view.query.get("resource") ?? "",
    placeholder: "account/acme",
    autocomplete: "off",
  });
  const place = el("div");
  const search = async (event) => {
    event?.preventDefault();
    noteAddress(["quarantine"], { resource: resource.value });
    await listed(place, {
      label: "Late results",
      columns: COLUMNS,
      fetchPage: (cursor) => get("/api/v1/quarantine", { resource: resource.value, cursor }, view.signal),
      none: "Nothing came too late. Rules with on_stale: quarantine keep here what an overtaken agent still sends.",
    });
  };
  swap(
    view.root,
    el("h1", {}, "Quarantine"),
    el("p", { class: "quiet lead" }, "What overtaken agents sent is kept here and never sent on."),
    el(
      "form",
      { class: "tools", on: { submit: search } },
      el("label", { for: "of" }, "Resource"),
      resource,
      el("button", {}, "Show"),
    ),
    place,
  );
  await search();
}

async function showLate(view, id) {
  const late = await get(`/api/v1/quarantine/${segment(id)}`, {}, view.signal);
  const drop = async () => {
    const done = await confirm({
      title: "Drop this result",
      body: el(
        "p",
        {},
        "It is gone for good, its body too; the audit trail keeps that it was here. The resource does not change.",
      ),
      fields: [note()],
      verb: "Drop",
      isGrave: true,
      act: (given) => remove(`/api/v1/quarantine/${segment(id)}`, { note: given.note }),
    });
    if (done) location.hash = address(["quarantine"]);
  };
  swap(
    view.root,
    el("p", { class: "trail" }, link(address(["quarantine"]), "Quarantine")),
    el(
      "header",
      { class: "title" },
      el("h1", {}, code(`${late.method} ${late.target}`)),
      el("span", { class: "badge bad" }, late.decision),
      el("div", { class: "buttons" }, button("Drop", drop, { class: "grave" })),
    ),
    facts([
      ["Resource", link(address(["resources", late.resource]), name(late.resource))],
      ["Came under epoch", code(late.epoch)],
      ["Epoch that ruled", late.highest_epoch && code(late.highest_epoch)],
      ["Holder", late.holder && name(late.holder)],
      ["Principal", late.principal && name(late.principal)],
      ["Rule", [name(late.upstream), " / ", name(late.rule)]],
      ["Came", moment(late.received_at, 3)],
      ["Kept until", moment(late.expires_at)],
      ["Size", size(late)],
      ["Intent", late.intent && link(address(["intents", late.intent]), code(late.intent))],
      ["Id", code(late.id)],
    ]),
    el(
      "section",
      {},
      el("h2", {}, "As it came"),
      request(late.request, late.truncated ? null : `/api/v1/quarantine/${segment(id)}/body`, `${id}.bin`),
    ),
    el("section", {}, el("h2", {}, "Every step"), steps(late.events)),
  );
}

function size(late) {
  return late.size === null ? "head only" : `${late.size.toLocaleString("en-GB")} bytes`;
}
