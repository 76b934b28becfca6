// A lease with what is left of it, counted down while one looks.

import { now } from "./clock.js";
import { el } from "./dom.js";
import { duration, ms } from "./time.js";

/** The API's {expires_at, ttl_s}, or null. */
export function lease(found) {
  if (!found) return el("span", { class: "faint" }, "none");
  const left = el("span", { class: "left" });
  const meter = el("meter", { class: "done", min: 0, max: found.ttl_s * 1000, "aria-hidden": "true" });
  const node = el("span", { class: "remaining" }, meter, left);
  node.dataset.until = ms(found.expires_at);
  count(node);
  return node;
}

/** Have all leases within `place` counted down until the page is left. */
export function remainders(place, view) {
  view.every(1000, () => place.querySelectorAll(".remaining").forEach(count));
}

function count(node) {
  const left = Number(node.dataset.until) - now();
  const [meter, words] = node.children;
  meter.value = Math.max(0, left);
  words.textContent = left > 0 ? `${duration(left)} left` : `ended ${duration(left)} ago`;
  node.classList.toggle("ended", left <= 0);
}
