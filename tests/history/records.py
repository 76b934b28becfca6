"""What is left of a run, read into a history: the logs, and what the gateways tell operators in the end."""

import math
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.history.history import Call, Execution, Fence, History, Intent, Loss, Passage
from tests.history.log import read_log
from tests.history.plan import Plan
from tests.history.policy import TOTAL_S
from tests.story.gateways import Gateway
from tests.until import until

# In the order in which an intent may pass through them: one that goes on while they are listed is in two of the lists,
# and what it is in the later one counts.
_STATES = ("in_flight", "queued", "unknown", "superseded", "failed", "not_applied", "applied")
# Tickets of what was killed end with their deadline, a grace and a sweep.
_ENDS_WITHIN_S = 30.0
_ENDINGS = frozenset({"applied", "unknown"})


async def read_history(directory: Path, gateway: Gateway, plan: Plan) -> History:
    """Once nothing is in flight, or has been for too long."""

    async def nothing_flies() -> bool:
        return not await gateway.intents("in_flight")

    with suppress(TimeoutError):
        await until(nothing_flies, within_s=_ENDS_WITHIN_S)
    intents = {
        str(item["id"]): Intent(
            str(item["id"]), str(item["resource"]), state, item["key"] if isinstance(item["key"], str) else None
        )
        for state in _STATES
        for item in await gateway.intents(state)
    }
    return History(
        tuple(read_calls(directory / "agents.log")),
        tuple(read_passages(directory / "door.log")),
        tuple(
            Execution(line["id"], line["resource"], line["epoch"], line["at"], line["key"])
            for line in read_log(directory / "upstream.log")
            if line["event"] == "executed"
        ),
        tuple(intents.values()),
        {resource: fence for resource in plan.names if (fence := await _fence(gateway, resource)) is not None},
        tuple(line["at"] for line in read_log(directory / "nemesis.log") if line["event"] == "death"),
        TOTAL_S,
        tuple(read_losses(directory / "nemesis.log")),
        plan.may_lose,
        tuple(read_full(directory / "nemesis.log")),
    )


def read_calls(path: Path) -> Iterator[Call]:
    """Of the agents' log."""
    asked: dict[str, dict[str, Any]] = {}
    told: dict[str, dict[str, Any]] = {}
    for line in read_log(path):
        (asked if line["event"] == "asked" else told)[line["id"]] = line
    for id, line in asked.items():
        answer = told.get(id, {"event": "lost"})
        call = Call(id, line["kind"], line["resource"], line["at"], line["epoch"], line["key"])
        if answer["event"] == "lost":
            yield call
            continue
        facts = answer["decision"] or "", answer["outcome"] or "", answer["granted"], answer["intent"] or ""
        yield Call(id, call.kind, call.resource, call.at, call.epoch, call.key, answer["at"], answer["status"], *facts)


def read_passages(path: Path) -> Iterator[Passage]:
    """Of the door's log. A request that is delivered several times passes several times."""
    open_: dict[str, dict[str, Any]] = {}
    for line in read_log(path):
        id = line["id"]
        if line["event"] == "began":
            if id in open_:
                yield _passage(open_[id])
            open_[id] = {"id": id, "resource": line["resource"], "epoch": line["epoch"], "began": line["at"]}
        elif id in open_:
            open_[id].setdefault(line["event"], line["at"])
    yield from map(_passage, open_.values())


def read_losses(path: Path) -> Iterator[Loss]:
    """Of the nemesis' log: a server that was promoted may lack what was acknowledged since it was in step, until its
    predecessor took no more writes. What is lost while an earlier loss is not accepted yet is told with it."""
    lines = list(read_log(path))
    until = {line["since"]: line["at"] for line in lines if line["event"] == "stepped-down"}
    for loss in _losses(lines):
        yield replace(loss, found=max(loss.found, until.get(loss.since, -math.inf)))


def _losses(lines: list[dict[str, Any]]) -> Iterator[Loss]:
    since, found = -math.inf, list[tuple[float, float]]()
    for line in lines:
        if line["event"] == "promoted":
            since = line["since"]
            if found:
                found.append((since, line["at"]))
        elif line["event"] == "lost":
            found.append((since, line["at"]))
        elif line["event"] == "accepting":
            yield from (Loss(*times, line["at"]) for times in found)
            found.clear()
    yield from (Loss(*times) for times in found)


def read_full(path: Path) -> Iterator[tuple[float, float]]:
    """Of the nemesis' log: when a server had no room."""
    began: dict[int, float] = {}
    for line in read_log(path):
        if line["event"] == "fault" and line["kind"] in ("fill-disk", "fill-store"):
            began[line["number"]] = line["at"]
        elif line["event"] == "healed" and line["number"] in began:
            yield began.pop(line["number"]), line["at"]
    yield from ((at, math.inf) for at in began.values())


def _passage(found: dict[str, Any]) -> Passage:
    return Passage(**found)


async def _fence(gateway: Gateway, resource: str) -> Fence | None:
    """Once nothing of it is in flight: what is queued may be delivered at any time."""
    shown: dict[str, Any] = {}

    async def nothing_flies() -> bool:
        shown.update(await gateway.resource(resource))
        return not shown or shown["in_flight"] + shown["older_in_flight"] == 0

    with suppress(TimeoutError):
        await until(nothing_flies, within_s=_ENDS_WITHIN_S)
    if not shown:
        return None
    endings: Counter[int] = Counter()
    for event in await gateway.trail(resource):
        if event["from"] == "in_flight" and event["to"] in _ENDINGS:
            endings[int(str(event["epoch"]))] += 1
    return Fence(int(shown["epoch"]), shown["in_flight"] + shown["older_in_flight"], endings)
