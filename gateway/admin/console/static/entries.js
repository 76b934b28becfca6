// What stands in a timeline, one by one: where it is drawn, what it says, and where it leads.

import { address } from "./router.js";
import { clock, duration } from "./time.js";
import { STATES } from "./words.js";

const MARKS = {
  granted: "lease granted",
  renewed: "lease renewed",
  released: "lease given back",
  advanced: "epoch raised by an operator",
  refused: "refused",
  quarantined: "refused and kept",
  incident: "incident",
  noted: "noted",
};

/** All entries of a story by time: {at, to, lane, row, shape, tone, title, lines, href, keep}. */
export function entriesOf(story, now_ms) {
  const found = story.lanes.flatMap((lane, at) => [
    ...reign(lane, at, now_ms),
    ...lane.marks.map((mark) => ofMark(lane, at, mark)),
    ...lane.threads.flatMap((thread) => ofThread(lane, at, thread, now_ms)),
  ]);
  return found.sort((a, b) => a.at - b.at || a.lane - b.lane);
}

function reign(lane, at, now_ms) {
  const who = lane.holder ?? "an unnamed holder";
  const lines = [
    `epoch ${lane.epoch}`,
    lane.end === null ? "rules now" : `overtaken at ${clock(lane.end, 3)}, after ${duration(lane.end - lane.begin)}`,
    !lane.isTold && "its grant is not in the trail; shown from its first write on",
    ...lane.leases
      .filter((lease) => lease.until)
      .map((lease) =>
        lease.until > now_ms ? `lease until ${clock(lease.until)}` : `lease ended at ${clock(lease.until)}`,
      ),
  ];
  return [
    {
      at: lane.begin,
      to: lane.end ?? now_ms,
      lane: at,
      row: -1,
      shape: "reign",
      tone: lane.end === null ? "rules" : "over",
      title: `${who} rules from ${clock(lane.begin, 3)}`,
      lines: lines.filter(Boolean),
      href: null,
      keep: `reign-${lane.epoch}`,
      isOpen: lane.end === null && !lane.leases.some((lease) => lease.until > now_ms),
    },
  ];
}

function ofMark(lane, at, mark) {
  const isRefusal = mark.kind === "refused" || mark.kind === "quarantined";
  const isOvertaken = lane.end !== null && mark.at >= lane.end;
  return {
    at: mark.at,
    to: mark.at,
    lane: at,
    row: -1,
    shape: isRefusal ? "refusal" : mark.kind,
    tone: isRefusal || mark.kind === "incident" ? "bad" : "calm",
    title: isRefusal
      ? `${lane.holder ?? "a write"} ${MARKS[mark.kind]}: ${mark.event.reason}`
      : (MARKS[mark.kind] ?? mark.kind.replaceAll("_", " ")),
    lines: [
      `${clock(mark.at, 3)}, epoch ${lane.epoch}`,
      isRefusal && isOvertaken && `${duration(mark.at - lane.end)} after it was overtaken`,
      !isRefusal && mark.event.reason,
      mark.event.rule && `rule ${mark.event.rule}`,
    ].filter(Boolean),
    href:
      mark.kind === "quarantined"
        ? address(["quarantine", mark.event.intent])
        : mark.kind === "incident"
          ? address(["intents", mark.event.intent])
          : null,
    keep: `mark-${mark.event.number}`,
  };
}

function ofThread(lane, at, thread, now_ms) {
  const beside = { lane: at, row: thread.row, href: address(["intents", thread.id]) };
  const stretches = thread.stretches.map((each) => {
    const to = each.to ?? now_ms;
    const isBar = each.state === "in_flight";
    const what = isBar ? (each.outcome ?? "in_flight") : each.state;
    const event = each.begin ?? each.end;
    return {
      ...beside,
      at: each.from,
      to,
      shape: isBar ? "bar" : "waits",
      tone: what,
      isOpen: each.to === null,
      title: `${lane.holder ?? "a write"}, ${event.rule}: ${title(what)}`,
      lines: [
        `epoch ${lane.epoch}`,
        each.to === null
          ? `since ${clock(each.from, 3)}`
          : `${clock(each.from, 3)}, for ${each.begin ? duration(to - each.from) : "a time that is not in the trail"}`,
        (each.end ?? each.begin).reason,
      ],
      keep: `stretch-${event.number}-${each.state}`,
    };
  });
  const marks = thread.marks.map((mark) => ({
    ...beside,
    at: mark.at,
    to: mark.at,
    shape: "end",
    tone: mark.kind,
    title: `${title(mark.event.from)} → ${title(mark.kind)}`,
    lines: [`${clock(mark.at, 3)}, by ${mark.event.by}`, mark.event.reason],
    keep: `mark-${mark.event.number}`,
  }));
  return [...stretches, ...marks];
}

function title(state) {
  return (STATES[state]?.title ?? String(state ?? "new")).toLowerCase();
}
