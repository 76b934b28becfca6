// The policies in force: their rules, what is used of budgets, reading the files again, and asking about a request.

import { get, post } from "./api.js";
import { button, code, el, name, swap } from "./dom.js";
import { confirm } from "./dialog.js";
import { explainForm } from "./explain.js";
import { empty } from "./states.js";
import { listed, table } from "./table.js";
import { duration, moment } from "./time.js";
import { grouped } from "./words.js";

export async function showPolicies(view) {
  const news = el("div");
  const sets = el("div");
  const draw = async () => {
    const { items } = await get("/api/v1/policies", {}, view.signal);
    swap(sets, items.length ? items.map(policy) : empty("No upstream is configured: nothing passes."));
  };
  const reload = button("Reload the files", () => reloaded(news, draw));
  const budgets = el("div");
  swap(
    view.root,
    el("header", { class: "title" }, el("h1", {}, "Policies"), el("div", { class: "buttons" }, reload)),
    news,
    sets,
    el("section", {}, el("h2", {}, "Budgets"), budgets),
    explainForm(),
  );
  await draw();
  await listed(budgets, {
    label: "Budgets",
    columns: BUDGET,
    fetchPage: (cursor) => get("/api/v1/budgets", { cursor }, view.signal),
    none: "Nothing is used of any budget.",
  });
}

const RULE = [
  {
    head: "Rule",
    cell: (rule) => [
      el("b", {}, name(rule.name)),
      rule.mode === "observe" && el("span", { class: "badge calm" }, "observes only"),
    ],
  },
  { head: "Takes", kind: "wide", cell: (rule) => rule.match.map((each) => el("div", {}, pattern(each))) },
  { head: "Resource", cell: (rule) => [code(rule.resource), spelled(rule)] },
  { head: "Epochs from", cell: (rule) => rule.authority },
  {
    head: "Also",
    kind: "wide",
    cell: (rule) => guards(rule).join(", ") || el("span", { class: "faint" }, "nothing"),
  },
];

/** How its ids are spelled, where somebody has said that; or all that there are. */
function spelled(rule) {
  const said = Object.entries(rule.values).filter(([, form]) => form !== "unreserved");
  return said.map(([part, form]) =>
    el("small", { class: "spelled" }, code(part), ": ", typeof form === "string" ? form : code(form.join(" | "))),
  );
}

const PARKS = { queued: "sent later", awaiting_approval: "approved first" };

function guards(rule) {
  return [
    rule.risk === "high" && "high risk",
    PARKS[rule.parks],
    rule.intent !== "off" && `key ${rule.intent}`,
    rule.on_stale === "quarantine" && "late ones kept",
    rule.compensated && "can be taken back",
    rule.only && "says what is listed",
  ].filter(Boolean);
}

/** A method and a path, which breaks between segments before it breaks within one. */
function pattern(text) {
  return el("bdi", { class: "code" }, ...text.split(/(?<=[/,])/).flatMap((part) => [part, el("wbr")]));
}

function policy(each) {
  const mount = `${each.mount.host ?? ""}${each.mount.path}`;
  return el(
    "section",
    {},
    el("h2", {}, name(each.upstream)),
    el(
      "p",
      { class: "quiet mount" },
      code(mount),
      " → ",
      code(each.url),
      each.reads === "pass" ? ", reads pass" : ", reads are denied",
      each.read_only > 0 && `, ${each.read_only} read_only`,
      each.closed > 0 && `, ${each.closed} closed`,
    ),
    each.rules.length
      ? el("div", { class: "scroll" }, table(`Rules of ${each.upstream}`, RULE, each.rules))
      : empty("It has no rule: no write passes."),
  );
}

const BUDGET = [
  { head: "Rule", kind: "pair", cell: (usage) => [name(usage.upstream), " / ", name(usage.rule)] },
  { head: "Of", kind: "long", cell: (usage) => [usage.per, " ", name(usage.by)] },
  { head: "Within", cell: (usage) => duration(usage.window_s * 1000) },
  { head: "Writes", kind: "share", cell: (usage) => used(usage.count, usage.count_limit) },
  { head: "Sum", kind: "share", cell: (usage) => usage.total !== null && used(usage.total, usage.total_limit) },
  { head: "Freed from", kind: "number", cell: (usage) => moment(usage.oldest_leaves_at) },
];

function used(amount, limit) {
  if (limit === null) return grouped(amount);
  // Amounts are texts of any length; the meter may be a little off, the words are not.
  const part = Number(limit) ? Number(amount) / Number(limit) : 1;
  return [
    el("meter", {
      class: part > 0.8 ? "person" : "done",
      min: 0,
      max: 1,
      value: Math.min(1, part),
      "aria-label": "Used",
    }),
    el("span", {}, `${grouped(amount)} of ${grouped(limit)}`),
  ];
}

async function reloaded(news, draw) {
  let findings = null;
  const done = await confirm({
    title: "Read the policy files again",
    body: el(
      "p",
      {},
      "All or nothing: if a file has an error, the policies in force stay as they are, and you see what is wrong.",
    ),
    verb: "Reload",
    act: async () => {
      try {
        await post("/api/v1/policies/reload");
      } catch (error) {
        if (error.kind !== "policies-invalid") throw error;
        findings = error.members.findings ?? [];
      }
    },
  });
  if (!done) return;
  swap(
    news,
    findings ? refused(findings) : el("p", { class: "notice good", role: "status" }, "The files are in force."),
  );
  await draw();
}

function refused(findings) {
  return el(
    "div",
    { class: "notice bad", role: "alert" },
    el("b", {}, "The files were not taken; the policies in force stay as they were."),
    el(
      "ul",
      {},
      findings.map((each) => el("li", {}, code(`${each.file}:${each.line}:${each.column}`), " ", name(each.message))),
    ),
  );
}
