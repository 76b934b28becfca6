// A person's word on one intent. Each says what will happen before it does, and wants a note.

import { post, segment } from "./api.js";
import { choice, confirm, note } from "./dialog.js";
import { el, name } from "./dom.js";
import { request } from "./exchange.js";

/** What can be done with an intent as it is: {title, run}. `run` resolves to the intent as it is then, or null. */
export function actions(intent) {
  const found = [];
  if (intent.state === "awaiting_approval") {
    found.push(
      { title: "Approve", isPrimary: true, run: () => approve(intent) },
      { title: "Deny", run: () => deny(intent) },
    );
  }
  if (intent.state === "unknown") found.push({ title: "Resolve", isPrimary: true, run: () => resolve(intent) });
  if (intent.state === "failed") found.push({ title: "Send again", isPrimary: true, run: () => retry(intent) });
  if (intent.state === "applied" && intent.compensation?.request) {
    found.push({ title: "Compensate", run: () => compensate(intent) });
  }
  return found;
}

function decide(intent, verb, document) {
  return post(`/api/v1/intents/${segment(intent.id)}/${verb}`, document);
}

function approve(intent) {
  const kept = intent.request;
  return confirm({
    title: "Approve this request",
    body: [
      intent.held_by
        ? el(
            "p",
            { class: "caution" },
            "A pause holds it: ",
            name(intent.held_by.stops),
            " are stopped. It is sent when that ends.",
          )
        : null,
      el(
        "p",
        {},
        "It is sent to ",
        name(intent.upstream),
        intent.held_by ? " then, once, exactly as it stands here." : " at once, once, exactly as it stands here.",
      ),
      kept
        ? request(kept, `/api/v1/intents/${segment(intent.id)}/body`, `${intent.id}.bin`)
        : el("p", {}, "The request is not kept."),
      el(
        "p",
        { class: "quiet" },
        "Your approval names its digest, ",
        el("code", { class: "digest" }, intent.digest),
        ", and counts for no other request.",
      ),
    ],
    fields: [note()],
    verb: "Approve and send",
    act: (given) => decide(intent, "approve", { note: given.note, digest: intent.digest, since: intent.since }),
  });
}

function deny(intent) {
  return confirm({
    title: "Deny this request",
    body: el("p", {}, "It is never sent. Whoever repeats it is answered 403 with your note."),
    fields: [note("Note to the agent", "Why not. The agent reads it, and it stays in the audit trail.")],
    verb: "Deny",
    isGrave: true,
    act: (given) => decide(intent, "deny", { note: given.note, digest: intent.digest, since: intent.since }),
  });
}

function resolve(intent) {
  return confirm({
    title: "Say what became of it",
    body: [
      el("p", {}, "Of ", el("code", {}, intent.id), intent.target && ", ", intent.target && name(intent.target), ":"),
      el(
        "p",
        {},
        "Look at the API itself first: nothing here can tell. Evidence that comes later and says otherwise is an ",
        "incident.",
      ),
    ],
    fields: [
      choice("outcome", "What the API did", [
        { value: "applied", title: "It was applied", meaning: "Repeats are told that it is done. Nothing is sent." },
        { value: "not_applied", title: "It was not applied", meaning: "The key is free: the next repeat is sent." },
      ]),
      note("Note", "Where you have seen it. It stays in the audit trail."),
    ],
    verb: "Resolve",
    act: (given) => decide(intent, "resolve", { outcome: given.outcome, note: given.note, attempt: intent.attempts }),
  });
}

function retry(intent) {
  return confirm({
    title: "Send it again",
    body: el(
      "p",
      {},
      "It is queued again and delivered in the order of ",
      name(intent.resource),
      ", unless a newer epoch rules there. It takes of its rule’s budgets as a new one does.",
    ),
    fields: [note()],
    verb: "Send again",
    act: (given) => decide(intent, "retry", { note: given.note, digest: intent.digest, since: intent.since }),
  });
}

function compensate(intent) {
  const kept = intent.compensation.request;
  return confirm({
    title: "Take it back",
    body: [
      el(
        "p",
        {},
        "This is sent to ",
        name(intent.upstream),
        " once, with the gateway’s own credentials, under the highest epoch:",
      ),
      request(kept),
      writtenSince(intent),
    ],
    fields: [note()],
    verb: "Send the compensation",
    isGrave: true,
    act: (given) => decide(intent, "compensate", { note: given.note }),
  });
}

function writtenSince(intent) {
  if (intent.written_since === true) {
    return el(
      "p",
      { class: "caution" },
      "The resource was written since. What is taken back may no longer be what was done.",
    );
  }
  if (intent.written_since === false) return el("p", { class: "quiet" }, "The resource was not written since.");
  return el("p", { class: "caution" }, "Whether the resource was written since is not known.");
}
