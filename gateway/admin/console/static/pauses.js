// Pauses: stop writes, and let them go on.

import { get, post, remove, segment } from "./api.js";
import { confirm, field } from "./dialog.js";
import { button, el, fresh, link, name, swap } from "./dom.js";
import { address } from "./router.js";
import { listed } from "./table.js";
import { moment } from "./time.js";
import { look } from "./vitals.js";

const KINDS = {
  upstream: "All writes to one upstream",
  rule: "All writes of one rule",
  resource: "All writes of one resource",
  tenant: "All writes of one tenant",
  holder: "All writes of one holder",
  all: "All writes there are",
};

export async function showPauses(view) {
  const place = el("div");
  const begin = button("Pause writes", async () => (await askToPause({})) && draw(), { class: "grave" });
  swap(
    view.root,
    el("header", { class: "title" }, el("h1", {}, "Pauses"), el("div", { class: "buttons" }, begin)),
    el(
      "p",
      { class: "quiet lead" },
      "Writes that a pause names are refused by every gateway within a second. Reads and leases go on.",
    ),
    place,
  );
  const draw = async () => {
    look();
    await listed(place, {
      label: "Pauses in force",
      columns: columns(draw),
      fetchPage: (cursor) => get("/api/v1/pauses", { cursor }, view.signal),
      none: "Nothing is paused.",
    });
  };
  await draw();
}

function columns(draw) {
  return [
    { head: "Stopped", kind: "long", cell: (pause) => selector(pause) },
    { head: "Why", kind: "wide", cell: why },
    { head: "By", kind: "some", cell: (pause) => name(pause.by) },
    { head: "Since", kind: "number", cell: (pause) => moment(pause.created_at) },
    {
      head: "",
      kind: "number",
      cell: (pause) => button("End", async () => (await askToEnd(pause)) && draw()),
    },
  ];
}

/** An incident's pause has the id of its intent, and leads there. */
function why(pause) {
  const intent = `intent ${pause.id}`;
  if (!pause.reason.startsWith(`${intent} `)) return name(pause.reason);
  return [link(address(["intents", pause.id]), name(intent)), name(pause.reason.slice(intent.length))];
}

function selector(pause) {
  if (pause.all) return el("b", {}, "everything");
  if (pause.resource) return ["resource ", link(address(["resources", pause.resource]), name(pause.resource))];
  const kind = ["rule", "upstream", "tenant", "holder"].find((each) => pause[each]);
  return [`${kind} `, name(pause[kind]), kind === "rule" && pause.upstream && [" of ", name(pause.upstream)]];
}

function askToEnd(pause) {
  return confirm({
    title: "Let these writes go on",
    body: [
      el("p", {}, selector(pause)),
      el("p", {}, "Agents that repeat what was refused are served again, unless another pause stops them."),
    ],
    verb: "End the pause",
    act: () => remove(`/api/v1/pauses/${segment(pause.id)}`),
  });
}

/** Ask what to pause, and why. `given`: a selector that is already known. */
export async function askToPause(given) {
  const [known] = Object.entries(given);
  const names = known ? null : await suggestions();
  const about = known ? { fields: [], body: el("p", {}, `${KINDS[known[0]]}: `, name(known[1])) } : chooser(names);
  const reason = field(
    "reason",
    "Reason",
    el("input", { required: true, maxlength: 500, autocomplete: "off" }),
    "What happened. Operators see it as long as the pause lasts.",
  );
  const done = await confirm({
    title: "Pause writes",
    body: [
      about.body,
      el(
        "p",
        { class: "quiet" },
        "They are refused as “paused” from the next second on, those that wait too. What is in flight ends as it would; sessions are cut.",
      ),
    ],
    fields: [...about.fields, reason],
    verb: "Pause",
    isGrave: true,
    act: (values) => post("/api/v1/pauses", { ...(known ? given : about.selected(values)), reason: values.reason }),
  });
  if (done) look();
  return done;
}

function chooser(names) {
  const list = el("datalist", { id: fresh("names") });
  const kind = el(
    "select",
    {},
    Object.entries(KINDS).map(([value, title]) => el("option", { value }, title)),
  );
  const which = el("input", { required: true, autocomplete: "off", list: list.id });
  const fields = [field("kind", "What", kind), field("name", "Name", which)];
  const suit = () => {
    swap(
      list,
      (names[kind.value] ?? []).map((each) => el("option", { value: each })),
    );
    which.required = kind.value !== "all";
    fields[1].row.hidden = kind.value === "all";
  };
  kind.addEventListener("change", suit);
  suit();
  const selected = (values) => (values.kind === "all" ? { all: true } : { [values.kind]: values.name });
  return { fields, body: list, selected };
}

async function suggestions() {
  try {
    const { items } = await get("/api/v1/policies");
    return {
      upstream: items.map((each) => each.upstream),
      rule: items.flatMap((each) => each.rules.map((rule) => rule.name)),
    };
  } catch {
    // Whoever has to stop something can name it without them.
    return {};
  }
}
