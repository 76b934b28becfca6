// Notifications that nobody took: dead letters, and sending one again.

import { get, post, segment } from "./api.js";
import { confirm } from "./dialog.js";
import { button, code, el, link, name, swap } from "./dom.js";
import { address } from "./router.js";
import { listed } from "./table.js";
import { moment } from "./time.js";

export async function showNotifications(view) {
  const state = view.query.get("state") === "waiting" ? "waiting" : "dead";
  const place = el("div");
  const tab = (each, title) =>
    el(
      "li",
      {},
      el("a", { href: address(["notifications"], { state: each }), "aria-current": each === state && "true" }, title),
    );
  swap(
    view.root,
    el("h1", {}, "Notifications"),
    el(
      "nav",
      { class: "filter", "aria-label": "States" },
      el("ul", {}, tab("dead", "Dead letters"), tab("waiting", "Waiting")),
    ),
    place,
  );
  const draw = () =>
    listed(place, {
      label: "Notifications",
      columns: columns(draw),
      fetchPage: (cursor) => get("/api/v1/notifications", { state, cursor }, view.signal),
      none: state === "dead" ? "Every notification was taken." : "None waits to be sent.",
    });
  await draw();
}

function columns(draw) {
  return [
    { head: "Event", cell: (letter) => name(letter.type) },
    {
      head: "Intent",
      kind: "long",
      cell: (letter) => letter.intent && link(address(["intents", letter.intent]), code(letter.intent)),
    },
    {
      head: "Resource",
      kind: "long",
      cell: (letter) => link(address(["resources", letter.resource]), name(letter.resource)),
    },
    { head: "What went wrong", kind: "wide", cell: (letter) => name(letter.failure) },
    { head: "Attempts", kind: "number", cell: (letter) => letter.attempts },
    { head: "Happened", kind: "number", cell: (letter) => moment(letter.occurred_at) },
    {
      head: "",
      kind: "number",
      cell: (letter) => button("Send now", async () => (await askToSend(letter)) && draw()),
    },
  ];
}

function askToSend(letter) {
  return confirm({
    title: "Send it again",
    body: el(
      "p",
      {},
      "It goes to the webhook of ",
      name(letter.upstream),
      " at once, and its attempts are counted anew.",
    ),
    verb: "Send",
    act: () => post(`/api/v1/notifications/${segment(letter.id)}/retry`),
  });
}
