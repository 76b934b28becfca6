// Which page is shown: the part of the address behind `#`. Nothing of it reaches the gateway.

import { swap } from "./dom.js";
import { failure, loading } from "./states.js";

/** What a page is given: where it draws, what its address says, and a signal that ends with it. */
class View {
  constructor(root, path, query) {
    this.root = root;
    this.path = path;
    this.query = query;
    this.ending = new AbortController();
    this.signal = this.ending.signal;
  }

  get isOver() {
    return this.signal.aborted;
  }

  /**
   * Call again and again until the page is left, one call after the other: an earlier answer is not drawn over a later
   * one. Not while nobody looks. Milliseconds. A look that fails leaves what is shown: the next one may be luckier, and
   * what lasts is told by the alarm above.
   */
  every(interval, call) {
    let isLooking = false;
    const look = async () => {
      if (isLooking || document.visibilityState !== "visible") return;
      isLooking = true;
      try {
        await call();
      } catch (error) {
        if (error instanceof TypeError) throw error;
      } finally {
        isLooking = false;
      }
    };
    const timer = setInterval(look, interval);
    this.signal.addEventListener("abort", () => clearInterval(timer));
  }
}

export function address(path, query = {}) {
  const given = Object.entries(query).filter(([, value]) => value);
  return `#/${path.map(encodeURIComponent).join("/")}${given.length ? `?${new URLSearchParams(given)}` : ""}`;
}

/** Change the query of the page that is shown, without showing it anew. */
export function note(path, query) {
  history.replaceState(null, "", address(path, query));
}

export function here() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  return { path: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query ?? "") };
}

export class Router {
  /** `pages` by the first part of the address; `onShown` hears which one it was. */
  constructor(root, pages, onShown) {
    this.root = root;
    this.pages = pages;
    this.onShown = onShown;
    this.view = null;
    addEventListener("hashchange", () => this.show({ focus: true }));
  }

  /** `isAgain`: what is shown tells why there is nothing yet, and stays until there is. */
  async show({ focus = false, isAgain = false } = {}) {
    const { path, query } = here();
    const name = Object.hasOwn(this.pages, path[0]) ? path[0] : Object.keys(this.pages)[0];
    this.view?.ending.abort();
    const view = new View(this.root, path, query);
    this.view = view;
    if (!isAgain) swap(this.root, loading());
    this.onShown(name);
    if (focus) {
      this.root.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
    await this.attempt(view, this.pages[name]);
  }

  async attempt(view, page) {
    try {
      await page(view);
    } catch (error) {
      if (view.isOver || error.name === "AbortError") return;
      swap(
        this.root,
        failure(error, () => this.show({ isAgain: true })),
      );
    }
  }
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
