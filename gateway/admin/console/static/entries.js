// What stands in a timeline, one by one: where it is drawn, what it says, and where it leads.

import { address } from "./router.js";
import { clock, duration } from "./time.js";
import { EPOCHS, REFUSALS, STATES } from "./words.js";

const MARKS = {
  ...EPOCHS,
  refused: "refused",
  quarantined: "refused and kept",
  incident: "incident",
  noted: "noted",
};

/** All entries of a story by time: {at, to, lane, row, shape, tone, title, lines, href, keep}. */
export function entriesOf(story, now_ms) {
  const found = story.lanes.flatMap((lane, at) => [
    ...(lane.isRuling ? [reign(lane, at, now_ms)] : []),
    // Its beginning is told with the reign.
    ...lane.marks.filter((mark) => mark !== lane.grant).map((mark) => ofMark(lane, at, mark)),
    ...lane.threads.flatMap((thread) => ofThread(lane, at, thread, now_ms)),
  ]);
  return found.sort((a, b) => a.at - b.at || a.lane - b.lane);
}

function reign(lane, at, now_ms) {
  const lines = [
    `epoch ${lane.epoch}`,
    lane.grant && `${MARKS[lane.grant.kind]} ${lane.grant.event.reason}`,
    !lane.isTold && "its grant is not in the trail; shown from its first write on",
    ...lane.leases.map((lease) => leased(lease, lane, now_ms)),
    lane.end === null ? "rules now" : `overtaken at ${clock(lane.end, 3)}, after ${duration(lane.end - lane.begin)}`,
  ];
  return {
    at: lane.begin,
    to: lane.end ?? now_ms,
    lane: at,
    row: -1,
    shape: "reign",
    tone: lane.end === null ? "rules" : "over",
    leases: lane.leases.map((lease) => ({ from: lease.from, to: Math.min(lease.to ?? now_ms, lane.end ?? Infinity) })),
    title: ruling(lane),
    lines: lines.filter(Boolean),
    href: null,
    keep: `reign-${lane.epoch}`,
    isOpen: lane.end === null && !lane.leases.some((lease) => lease.to === null),
  };
}

function ruling(lane) {
  const since = clock(lane.begin, 3);
  // Nobody has the epoch to which an operator went, until somebody writes under it.
  if (lane.holder === null && lane.grant?.kind === "advanced") return `Nobody rules from ${since}`;
  return `${lane.holder ?? "an unnamed holder"} rules from ${since}`;
}

function leased(lease, lane, now_ms) {
  const to = clock(lease.to ?? lease.until, 3);
  switch (lease.end) {
    case "taken":
      return `lease taken over at ${to} by ${lane.next?.holder ?? "another holder"}`;
    case "expired":
      return `lease ran out at ${to}`;
    case "returned":
      return `lease given back at ${to}`;
    case "raised":
      return `lease ended at ${to} by an operator`;
    case "lost":
      return `lease ended at ${to} with what the store lost`;
    case "unseen":
      return `lease until ${to} at least; renewals are not in the trail`;
    default:
      return lease.until > now_ms ? `lease until ${clock(lease.until)}` : `lease ended at ${clock(lease.until)}`;
  }
}

function ofMark(lane, at, mark) {
  const isRefusal = mark.kind === "refused" || mark.kind === "quarantined";
  return {
    at: mark.at,
    to: mark.at,
    lane: at,
    row: -1,
    shape: isRefusal ? "refusal" : mark.kind,
    tone: isRefusal || mark.kind === "incident" ? "bad" : "calm",
    reason: isRefusal ? mark.event.reason : null,
    title: isRefusal
      ? `${mark.event.holder ?? "a write"} ${MARKS[mark.kind]}: ${mark.event.reason}`
      : (MARKS[mark.kind] ?? mark.kind.replaceAll("_", " ")),
    lines: [
      `${clock(mark.at, 3)}, epoch ${mark.event.epoch}`,
      ...(isRefusal ? ofRefusal(lane, mark) : [mark.event.reason]),
      mark.event.rule && `rule ${mark.event.rule}`,
      mark.event.trace_id && `trace ${mark.event.trace_id}`,
      mark.kind === "refused" && "told once a minute, however often it came",
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

function ofRefusal(lane, mark) {
  const isOvertaken = lane.end !== null && mark.at >= lane.end;
  return [
    REFUSALS[mark.event.reason],
    isOvertaken && `${duration(mark.at - lane.end)} after it was overtaken`,
    !lane.isRuling && "nothing else of this epoch is among the steps that were read",
  ];
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
