// Asking the policies in force about a request, without sending it.

import { post } from "./api.js";
import { field } from "./dialog.js";
import { code, el, name, swap } from "./dom.js";
import { mishap } from "./states.js";
import { facts } from "./table.js";
import { toneOf } from "./words.js";

export function explainForm() {
  const method = field(
    "method",
    "Method",
    el("input", { required: true, value: "PUT", maxlength: 32, autocomplete: "off", spellcheck: "false", size: 8 }),
  );
  const target = field(
    "target",
    "Path",
    el("input", {
      required: true,
      pattern: "/.*",
      placeholder: "/reports/7",
      autocomplete: "off",
      spellcheck: "false",
    }),
  );
  const headers = field(
    "headers",
    "Headers",
    el("textarea", { rows: 2, spellcheck: "false", placeholder: "Idempotency-Key: order-17" }),
  );
  const body = field("body", "Body", el("textarea", { rows: 2, spellcheck: "false", placeholder: "{}" }));
  const answer = el("div", { "aria-live": "polite" });
  const ask = async (event) => {
    event.preventDefault();
    try {
      const asked = { method: method.value(), target: target.value(), headers: pairs(headers.value()) };
      swap(answer, explained(await post("/api/v1/explain", body.value() ? { ...asked, body: body.value() } : asked)));
    } catch (error) {
      swap(answer, mishap(error));
    }
  };
  return el(
    "section",
    {},
    el("h2", {}, "Which rule takes a request?"),
    el(
      "form",
      { class: "explain", on: { submit: ask } },
      el("div", { class: "asked" }, method.row, target.row),
      el("div", { class: "asked even" }, headers.row, body.row),
      el("div", {}, el("button", { class: "primary" }, "Explain")),
    ),
    answer,
  );
}

function pairs(lines) {
  return lines
    .split("\n")
    .filter((line) => line.trim())
    .map((line) => {
      const [name, ...rest] = line.split(":");
      return [name.trim(), rest.join(":").trim()];
    });
}

function explained(told) {
  const answer = told.answer;
  const would = answer.decision === "forwarded" ? "forwarded, if its token holds" : answer.decision;
  return el(
    "div",
    { class: "answer" },
    el(
      "p",
      {},
      el("span", { class: `badge ${toneOf(answer.decision)}` }, would),
      " ",
      answer.detail && name(answer.detail),
    ),
    facts([
      ["Upstream", answer.upstream && name(answer.upstream)],
      ["Rule", answer.rule && name(answer.rule)],
      ["Resource", answer.resource && code(answer.resource)],
      ["Intent’s key", answer.intent_key && code(answer.intent_key)],
      ["Epochs from", answer.authority],
      ["Would be", answer.would],
    ]),
    told.considered.length > 0 &&
      el(
        "ul",
        { class: "considered" },
        told.considered.map((each) =>
          el(
            "li",
            { class: each.taken ? "taken" : null },
            el("b", {}, name(each.entry)),
            " ",
            code(each.match.join(" | ")),
            el("span", {}, name(each.why)),
            el("small", { title: each.place }, name(each.place.split("/").at(-1))),
          ),
        ),
      ),
  );
}
