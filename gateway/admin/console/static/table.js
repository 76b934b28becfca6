// Lists: a table where there is room, one block an entry on a phone; and the button that loads older entries.

import { el, put, swap } from "./dom.js";
import { empty, failure, loading, mishap } from "./states.js";

/** `columns`: {head, cell, kind?}. `cell` makes what stands in the column of an item. */
export function table(label, columns, items) {
  const body = el(
    "tbody",
    {},
    items.map((item) => row(columns, item)),
  );
  const heads = columns.map((column) => el("th", { scope: "col", class: column.kind }, column.head));
  return el("table", { class: "list", "aria-label": label }, el("thead", {}, el("tr", {}, heads)), body);
}

function row(columns, item) {
  return el(
    "tr",
    {},
    columns.map((column) =>
      el("td", { "data-label": column.head, class: column.kind }, el("div", { class: "cell" }, column.cell(item))),
    ),
  );
}

// Of each place, the list that was asked for last: the answer to an earlier question may come later.
const newest = new WeakMap();

/** A list that goes on: `fetchPage(cursor)` answers {items, next}. What goes wrong is said in its place. */
export async function listed(place, list) {
  const { label, columns, fetchPage, none } = list;
  const turn = {};
  newest.set(place, turn);
  if (!place.hasChildNodes()) swap(place, loading());
  let first;
  try {
    first = await fetchPage(null);
  } catch (error) {
    if (error.status === 401) throw error;
    if (error.name !== "AbortError" && newest.get(place) === turn)
      swap(
        place,
        failure(error, () => listed(place, list)),
      );
    return;
  }
  if (newest.get(place) !== turn) return;
  if (!first.items.length && !first.next) {
    swap(place, first.incomplete ? lacking(first) : empty(none));
    return;
  }
  const shown = table(label, columns, first.items);
  swap(place, el("div", { class: "scroll" }, shown), lacking(first));
  more(place, shown, columns, fetchPage, first.next);
}

/** What a page says of a part of the store that did not answer. */
function lacking(page) {
  return page.incomplete && el("p", { class: "foot", role: "status" }, `Incomplete: ${page.incomplete}.`);
}

function more(place, shown, columns, fetchPage, next) {
  if (!next) return;
  const button = el("button", { type: "button", class: "more" }, "Older entries");
  const foot = el("p", { class: "foot" }, button);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const page = await fetchPage(next);
      // Another list has taken its place.
      if (!foot.isConnected) return;
      foot.remove();
      put(place, lacking(page));
      put(
        shown.tBodies[0],
        page.items.map((item) => row(columns, item)),
      );
      more(place, shown, columns, fetchPage, page.next);
    } catch (error) {
      button.disabled = false;
      swap(foot, button, mishap(error));
    }
  });
  put(place, foot);
}

/** Names and values beside each other. `pairs`: [name, value]; without a value the pair is left out. */
export function facts(pairs) {
  const shown = pairs.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return el(
    "dl",
    { class: "facts" },
    shown.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}
