// The console: its pages, its menu, and the way in. Read this first; each page is a module of its name.

import { showAudit } from "./audit.js";
import { credentials, forget, isApproverOnly } from "./credentials.js";
import { button, el, link, swap } from "./dom.js";
import { showIntents } from "./intents.js";
import { showNotifications } from "./notifications.js";
import { showNow } from "./now.js";
import { showPauses } from "./pauses.js";
import { showPolicies } from "./policies.js";
import { showQuarantine } from "./quarantine.js";
import { showResources } from "./resources.js";
import { Router, address } from "./router.js";
import { showSignIn } from "./signin.js";
import { follow, intentsIn, isRegressed, look, pausesInForce, vitals } from "./vitals.js";

const PAGES = {
  now: { title: "Now", show: showNow },
  resources: { title: "Resources", show: showResources },
  intents: {
    title: "Intents",
    show: showIntents,
    waiting: () => sum(intentsIn("awaiting_approval"), intentsIn("unknown"), intentsIn("failed")),
  },
  quarantine: { title: "Quarantine", show: showQuarantine },
  pauses: { title: "Pauses", show: showPauses, waiting: () => pausesInForce() },
  policies: { title: "Policies", show: showPolicies },
  audit: { title: "Audit", show: showAudit },
  // Led to by what waits; seldom enough to need no place in the menu.
  notifications: { title: "Notifications", show: showNotifications, isHidden: true },
};

const ALARMS = {
  away: "The store is away: writes are refused until it is back, and reads pass. What is shown here may be old.",
  unreachable: "The gateway does not answer. What is shown here is what was known last.",
  regressed: "The store has lost what it acknowledged: writes are refused until somebody accepts that.",
};

const nav = document.getElementById("nav");
const alarm = document.getElementById("alarm");
const status = document.getElementById("vitals");
let current = "now";
let alarmed = null;

const router = new Router(document.getElementById("main"), guarded(), (page) => {
  current = page;
  document.title = `${PAGES[page].title} · fencegate`;
  drawMenu();
});

/** Each page; a caller who is not signed in is asked first. */
function guarded() {
  const shows = Object.entries(PAGES).map(([name, page]) => [name, (view) => shownOrSignIn(page, view)]);
  return Object.fromEntries(shows);
}

async function shownOrSignIn(page, view) {
  // An approver without the token sees what waits for an approval, and nothing else.
  const show = isApproverOnly() ? showIntents : page.show;
  try {
    await show(view);
  } catch (error) {
    if (error.status !== 401 || view.isOver) throw error;
    showSignIn(view, () => {
      look();
      router.show();
    });
  }
}

function drawMenu() {
  const shown = Object.entries(PAGES).filter(
    ([name, page]) => !page.isHidden && (!isApproverOnly() || name === "intents"),
  );
  swap(
    nav,
    el(
      "ul",
      {},
      shown.map(([name, page]) => {
        const waiting = page.waiting?.();
        return el(
          "li",
          {},
          el(
            "a",
            { href: `#/${name}`, "data-keep": name, "aria-current": name === current && "page" },
            page.title,
            waiting ? el("span", { class: "count" }, waiting > 99 ? "99+" : waiting) : null,
          ),
        );
      }),
    ),
  );
}

function drawVitals() {
  drawMenu();
  const [tone, words] = {
    up: ["up", "Store up"],
    away: ["down", "Store away"],
    unreachable: ["down", "No answer"],
  }[vitals.state] ?? ["", ""];
  const { token, key } = credentials();
  swap(
    status,
    words && el("span", { class: `pulse ${tone}` }, words),
    (token || key) && button("Sign out", signOut, { class: "plain", "data-keep": "out" }),
  );
  // Said once: a screen reader would read it out at each look.
  const state = vitals.state === "up" && isRegressed() ? "regressed" : vitals.state;
  if (alarmed === state) return;
  // Whoever was let in before and no longer is has to be asked again.
  if (alarmed && state === null) router.show();
  alarmed = state;
  const sentence = ALARMS[state];
  const more = state !== "unreachable" && [" ", link(address(["now"]), "What to do")];
  swap(alarm, sentence && el("p", { class: "alarm" }, sentence, more));
}

function signOut() {
  forget();
  vitals.samples = null;
  vitals.state = null;
  alarmed = null;
  swap(alarm);
  drawVitals();
  router.show();
}

function sum(...numbers) {
  return numbers.reduce((all, number) => all + (number ?? 0), 0);
}

follow(drawVitals);
drawMenu();
router.show();
look();
