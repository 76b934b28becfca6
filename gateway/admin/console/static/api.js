// Calls of the admin API. A refusal is thrown as a Problem with the gateway's own sentence.

import { compare } from "./clock.js";
import { headers } from "./credentials.js";

// A gateway that is stopped takes connections and says nothing. It answers what it is asked within seconds, or that its
// store does not.
const PATIENCE_MS = 15_000;

/** RFC 9457, as the gateway writes it. `kind` is the last part of its type: `stale-epoch`, `store-unavailable`, … */
export class Problem extends Error {
  constructor(status, members) {
    super(members.detail || members.title || `The gateway answered ${status}.`);
    this.status = status;
    this.members = members;
    this.kind = String(members.type ?? "").replace("urn:fencegate:", "");
  }
}

/** Nobody answered. */
export class Unreachable extends Error {
  constructor() {
    super("The gateway does not answer. It may be stopped, or this machine has lost its way to it.");
    this.kind = "unreachable";
    this.status = 0;
  }
}

export function get(path, query = {}, signal = undefined) {
  return answered("GET", path + spelled(query), undefined, patient(signal));
}

export function post(path, document = {}) {
  return answered("POST", path, document);
}

export function remove(path, document = {}) {
  return answered("DELETE", path, document);
}

/** A text that is no JSON: the metrics. */
export async function text(path, signal) {
  return whole(await ask("GET", path, undefined, patient(signal)), "text");
}

/** Have a body stored as a file: fetched here, because a link would not carry the token. */
export async function download(path, filename) {
  const blob = await (await ask("GET", path)).blob();
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = filename;
  anchor.click();
  URL.revokeObjectURL(url);
}

/** One segment of a path. */
export function segment(value) {
  return encodeURIComponent(value);
}

async function answered(method, path, document, signal) {
  return whole(await ask(method, path, document, signal), "json");
}

function patient(signal) {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  return signal ? AbortSignal.any([signal, patience]) : patience;
}

/** The answer's body, which may break off like its head. */
async function whole(answer, form) {
  try {
    return await answer[form]();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Unreachable();
  }
}

async function ask(method, path, document, signal) {
  const body = document === undefined ? undefined : JSON.stringify(document);
  const kind = body === undefined ? {} : { "Content-Type": "application/json" };
  let answer;
  try {
    answer = await fetch(path, { method, body, signal, headers: { ...headers(), ...kind }, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Unreachable();
  }
  compare(answer.headers.get("Date"));
  if (!answer.ok) throw new Problem(answer.status, await members(answer));
  return answer;
}

async function members(answer) {
  try {
    const read = await answer.json();
    return typeof read === "object" && read !== null ? read : {};
  } catch {
    return {};
  }
}

function spelled(query) {
  const given = Object.entries(query).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}
