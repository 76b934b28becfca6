// What is wrong with the whole of it, what that means for agents, and how it ends. Said on the first page.

import { el, name } from "./dom.js";
import { lossNotice } from "./store.js";
import { vitals } from "./vitals.js";

const WHAT = {
  admission: "no place to wait for their turn",
  lease: "no place to wait for a lease",
  answer: "no place to wait for an answer",
  connection: "no place to wait for a connection",
  body: "no place to wait for a body",
  memory: "no memory for a large body",
  caller: "more connections than are accepted",
};
const AWAY = /^(a part of )?the store is away/;
const UNSAFE = "the store is unsafe: ";

/** `store`: the API's, or null. `reasons`: why the gateway is not ready. `redraw` is called once a loss is accepted. */
export function notices(store, reasons, redraw) {
  return [storeAway(reasons), lossNotice(store, redraw), unsafe(reasons), shed()];
}

function storeAway(reasons) {
  if (vitals.state !== "away") return null;
  const why = reasons.find((reason) => AWAY.test(reason));
  const isPart = why?.startsWith("a part");
  return el(
    "div",
    { class: "notice bad", id: "store-away" },
    el(
      "b",
      {},
      isPart
        ? "A part of the store is away. Nothing is written of what it keeps until it is back."
        : "The store is away. Nothing is written until it is back.",
    ),
    el(
      "ul",
      {},
      el(
        "li",
        {},
        `Agents: each write${isPart ? " of it" : ""} is answered 503 `,
        el("code", {}, "store-unavailable"),
        " and was not sent. They wait and repeat it. Reads pass.",
      ),
      el(
        "li",
        {},
        "Nothing is lost by that: leases, what waits and what is known of each write are there when it is back. If anything is missing then, it is said here.",
      ),
      el("li", {}, "What was on its way when it went is settled when it is back, or becomes unknown."),
      el(
        "li",
        {},
        "To do: see that the store runs and that this gateway reaches it; ",
        el("code", {}, "fencegate doctor --store URL"),
        " says what is in the way. Writes go on by themselves when it is back; there is nothing to press here.",
      ),
      why && el("li", {}, "The gateway says: ", name(why)),
    ),
  );
}

function unsafe(reasons) {
  const found = reasons.filter((reason) => reason.startsWith(UNSAFE));
  if (!found.length) return null;
  return el(
    "div",
    { class: "notice bad" },
    el("b", {}, "The store is not kept safe. Nothing is lost yet; its next restart may lose it."),
    el(
      "ul",
      {},
      found.map((reason) => el("li", {}, name(reason.slice(UNSAFE.length)))),
    ),
  );
}

/** What was turned away while one looks: agents were told to come again. */
function shed() {
  const turned = new Map();
  for (const point of vitals.history)
    for (const [what, number] of point.shed) if (number > 0) turned.set(what, (turned.get(what) ?? 0) + number);
  if (!turned.size) return null;
  const all = [...turned.values()].reduce((sum, number) => sum + number, 0);
  return el(
    "div",
    { class: "notice" },
    el(
      "b",
      {},
      `${all.toLocaleString("en-GB")} ${all === 1 ? "request was" : "requests were"} turned away in the last two minutes`,
    ),
    ": ",
    [...turned.keys()].map((what) => WHAT[what] ?? what).join(", "),
    ". They were told to come again, and nothing was sent.",
  );
}
