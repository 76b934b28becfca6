// Asking before something is done: what will happen, a note for the trail, and in the same place why it was refused.

import { button, el, fresh, swap } from "./dom.js";
import { mishap } from "./states.js";

/**
 * Ask, then act. `body`: what is shown of it. `fields`: those of `field()`. `act(values)` does it and may be refused:
 * the dialog stays then, with the reason. Resolves to what `act` answered, or null where nothing was done.
 */
export function confirm({ title, body, fields = [], act, verb, isGrave = false }) {
  return new Promise((resolve) => {
    const heading = fresh("dialog");
    const trouble = el("div");
    const doing = el("button", { type: "submit", class: isGrave ? "grave" : "primary" }, verb);
    const leaving = button("Cancel", () => dialog.close());
    const submit = async (event) => {
      event.preventDefault();
      doing.disabled = true;
      swap(trouble);
      try {
        done = (await act(Object.fromEntries(fields.map((each) => [each.name, each.value()])))) ?? true;
        dialog.close();
      } catch (error) {
        swap(trouble, mishap(error));
      } finally {
        doing.disabled = false;
      }
    };
    let done = null;
    const dialog = el(
      "dialog",
      {
        "aria-labelledby": heading,
        on: {
          close: () => {
            dialog.remove();
            resolve(done);
          },
        },
      },
      el(
        "form",
        { on: { submit } },
        el("h2", { id: heading }, title),
        el("div", { class: "told" }, body),
        fields.map((each) => each.row),
        trouble,
        el("div", { class: "buttons" }, leaving, doing),
      ),
    );
    document.body.append(dialog);
    dialog.showModal();
    // Over another page it would be about something that is not shown.
    addEventListener("hashchange", () => dialog.close(), { once: true });
    // What is decided about is read first: on a small screen it would be scrolled away.
    (fields[0]?.input ?? leaving).focus({ preventScroll: true });
    dialog.scrollTop = 0;
  });
}

/** Why, for those who read the audit trail. */
export function note(title = "Note", hint = "Why. It stays in the audit trail.") {
  return field("note", title, el("input", { required: true, maxlength: 500, autocomplete: "off" }), hint);
}

export function field(name, title, input, hint = null) {
  input.id ||= fresh("field");
  const row = el(
    "div",
    { class: "field" },
    el("label", { for: input.id }, title),
    input,
    hint && el("small", {}, hint),
  );
  return { name, input, row, value: () => input.value };
}

/** One of several. `choices`: {value, title, meaning}. */
export function choice(name, title, choices) {
  const group = fresh("choice");
  const options = choices.map((each) => {
    const input = el("input", { type: "radio", name: group, required: true });
    input.dataset.value = each.value;
    return {
      input,
      row: el(
        "label",
        { class: "option" },
        input,
        el("span", {}, el("b", {}, each.title), el("small", {}, each.meaning)),
      ),
    };
  });
  const row = el(
    "fieldset",
    {},
    el("legend", {}, title),
    options.map((each) => each.row),
  );
  return {
    name,
    row,
    input: options[0].input,
    value: () => options.find((each) => each.input.checked)?.input.dataset.value,
  };
}
