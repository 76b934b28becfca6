// The way in, where the gateway has an admin token: asked for once a tab.

import { get } from "./api.js";
import { credentials, forget, remember } from "./credentials.js";
import { el, swap } from "./dom.js";
import { mishap } from "./states.js";

const NOT_THE_TOKEN = "This is not the admin token of this gateway, or the key is nobody’s.";
const NO_APPROVER = "This is no key of a principal that may approve.";

/** `enter` is called with the token or key in place, once a call was let in with it. */
export function showSignIn(view, enter) {
  const given = credentials();
  const token = field("Admin token", "token", "FENCEGATE_ADMIN_TOKEN of the gateway.");
  const key = field(
    "Key of an approver",
    "key",
    "The Fencegate-Key of a principal that may approve. Without the token it shows what waits for an approval; with it, " +
      "decisions are made in that principal’s name.",
  );
  const trouble = el(
    "div",
    {},
    given.token || given.key ? mishap(new Error("The gateway did not take what was given. Try again.")) : null,
  );
  forget();
  for (const { input } of [token, key]) input.addEventListener("input", () => swap(trouble));
  const enterWith = async (event) => {
    event.preventDefault();
    remember({ token: token.input.value.trim(), key: key.input.value.trim() });
    try {
      await get("/api/v1/intents", { state: "awaiting_approval" });
      enter();
    } catch (error) {
      if (error.status !== 401 && error.status !== 403) return swap(trouble, mishap(error));
      forget();
      const unknown = new Error(token.input.value ? NOT_THE_TOKEN : NO_APPROVER);
      swap(trouble, mishap(error.status === 401 ? unknown : error));
    }
  };
  swap(
    view.root,
    el(
      "form",
      { class: "signin", on: { submit: enterWith } },
      el("h1", {}, "Sign in"),
      el(
        "p",
        { class: "quiet" },
        "This gateway has an admin token. It is kept in this tab only, and forgotten with it.",
      ),
      token.row,
      el("details", {}, el("summary", {}, "I approve writes"), key.row),
      trouble,
      el("button", { type: "submit", class: "primary" }, "Sign in"),
    ),
  );
  token.input.focus();
}

function field(title, name, hint) {
  const input = el("input", {
    id: `signin-${name}`,
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": `signin-${name}-hint`,
  });
  const row = el(
    "div",
    { class: "field" },
    el("label", { for: input.id }, title),
    input,
    el("small", { id: `signin-${name}-hint` }, hint),
  );
  return { input, row };
}
