// Elements made of data. Whatever agents sent becomes text or an attribute's value, never markup: the page's policy
// (require-trusted-types-for) makes a browser refuse anything else.

const SVG = "http://www.w3.org/2000/svg";

// Control characters, and those that turn or hide what stands beside them, but for line ends and tabs: a name must not
// look like another one.
const DECEIVING =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function visible(text) {
  return String(text).replace(DECEIVING, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
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

let ids = 0;

/** An id that no other element of the page has. */
export function fresh(prefix) {
  ids += 1;
  return `${prefix}-${ids}`;
}
