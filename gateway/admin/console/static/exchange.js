// A request or an answer as it is kept: shown byte for byte where it is text, offered as a file where it is not.

import { download } from "./api.js";
import { button, code, el, swap } from "./dom.js";
import { mishap } from "./states.js";

/** `kept` is the API's {method, target, headers, body, body_base64}. `path`: where the whole body is to be had. */
export function request(kept, path = null, filename = "body.bin") {
  return el(
    "div",
    { class: "exchange" },
    el("p", { class: "line" }, el("b", {}, kept.method), " ", code(kept.target)),
    headers(kept.headers),
    content(kept, path !== null),
    path && asFile(path, filename),
  );
}

/** `kept` is {status, headers, body?, body_base64?}. */
export function response(kept) {
  return el(
    "div",
    { class: "exchange" },
    el("p", { class: "line" }, el("b", {}, kept.status)),
    headers(kept.headers),
    content(kept, false),
  );
}

function headers(pairs) {
  if (!pairs?.length) return null;
  return el(
    "dl",
    { class: "headers" },
    pairs.map(([name, value]) => el("div", {}, el("dt", {}, el("bdi", {}, name)), el("dd", {}, el("bdi", {}, value)))),
  );
}

function content(kept, isElsewhere) {
  if (typeof kept.body === "string") {
    return kept.body === ""
      ? null
      : el("pre", { class: "body", tabindex: "0", dir: "auto", "aria-label": "Body" }, kept.body);
  }
  if (kept.body_base64) {
    const size = atob(kept.body_base64).length;
    return size
      ? el("p", { class: "quiet" }, `A body of ${size.toLocaleString("en-GB")} bytes that are no text.`)
      : null;
  }
  return isElsewhere
    ? el("p", { class: "quiet" }, "The body is not shown here: it is too large, or none was kept.")
    : null;
}

function asFile(path, filename) {
  const trouble = el("span");
  const store = async () => {
    try {
      swap(trouble);
      await download(path, filename);
    } catch (error) {
      swap(trouble, mishap(error));
    }
  };
  return el("p", {}, button("Download the body", store), trouble);
}
