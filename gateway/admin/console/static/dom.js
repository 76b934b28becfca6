// Elements made of data. Whatever agents sent becomes text or an attribute's value, never markup: the page's policy
// (require-trusted-types-for) makes a browser refuse anything else.

const SVG = "http://www.w3.org/2000/svg";

// Control characters, and those that turn what stands beside them or are not seen, but for line ends, tabs and what
// chooses an emoji's form: a name must not look like another one, nor a body say what nobody sees.
const DECEIVING = /(?![\t\n\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

export function visible(text) {
  return String(text).replace(DECEIVING, (one) => {
    const digits = one.codePointAt(0).toString(16);
    return digits.length > 4 ? `\\u{${digits}}` : `\\u${digits.padStart(4, "0")}`;
  });
}

/** `attributes.on` has listeners by event; false, null and undefined leave an attribute or a child out. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    } else if (name === "value") {
      node.value = value;
    } else {
      node.setAttribute(name, value === true ? "" : name === "href" ? String(value) : visible(value));
    }
  }
  put(node, ...children);
  return node;
}

/** Append children; texts as text. */
export function put(node, ...children) {
  for (const child of children.flat(Infinity)) {
    if (child === false || child === null || child === undefined) continue;
    node.append(child instanceof Node ? child : document.createTextNode(visible(child)));
  }
  return node;
}

/** Put children in place of those that are there. */
export function swap(node, ...children) {
  const had = node.contains(document.activeElement) ? document.activeElement : null;
  const place = had && had.dataset.keep;
  node.replaceChildren();
  put(node, ...children);
  // What is drawn anew under a keyboard's focus must not lose it.
  if (place) node.querySelector(`[data-keep="${CSS.escape(place)}"]`)?.focus({ preventScroll: true });
  return node;
}

/** A name that somebody else chose: isolated, so that its writing direction turns nothing around it. */
export function name(text, kind = "name") {
  return el("bdi", { class: kind }, text === null || text === undefined || text === "" ? "–" : text);
}

export function code(text) {
  return name(text, "code");
}

export function link(href, ...children) {
  return el("a", { href }, ...children);
}

/** `act` hears the click. */
export function button(title, act, attributes = {}) {
  return el("button", { type: "button", ...attributes, on: { click: act } }, title);
}

let ids = 0;

/** An id that no other element of the page has. */
export function fresh(prefix) {
  ids += 1;
  return `${prefix}-${ids}`;
}
