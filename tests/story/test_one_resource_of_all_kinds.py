"""Inline, parallel, queued and approved writes of one resource, with takeovers, retries and what takes them back: a
schedule that is drawn from a seed, through two gateways of two workers, judged by what the API saw.
"""

import asyncio
import contextlib
import json
import os
import random
import signal
from collections import defaultdict
from collections.abc import Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policies

POLICY = """
upstream: mail
url: http://127.0.0.1:PORT
mount: {path: /m}
timeouts: {connect: 1s, total: 2s, late: 2s}
capabilities: {fencing_token: X-Epoch}
defaults:
  intent: {mode: required}
  effect: {compensation: {request: "POST /m/{path.box}/undo/{response.json:/id}"}}
writes:
  - {name: inline, match: "POST /m/{box}/inline", resource: "box/{path.box}"}
  - {name: parallel, match: "POST /m/{box}/parallel", resource: "box/{path.box}", fence: {concurrency: parallel}}
  - {name: queued, match: "POST /m/{box}/queued", resource: "box/{path.box}", delivery: queued}
  - {name: approved, match: "POST /m/{box}/approved", resource: "box/{path.box}", approval: required}
"""
KINDS = ("inline", "parallel", "queued", "queued", "approved")
BOXES = ("1", "2")
JSON = "Content-Type: application/json"
# By weight; the last three have no effect.
FATES = {"200 OK": 60, "503 Busy": 4, "slow": 4, "closed": 4, "422 No": 12, "429 Later": 8}
WITHOUT_EFFECT = ("422 No", "429 Later")
# What lasts longer is past `timeouts.total`, if a little less counts for the way to the API: others may go on then.
PATIENT_S = 1.5
SLOW_S = 2.6
AGENTS, STEPS = 8, 40


@dataclass
class Event:
    """One request at the API. Without an end it was never answered."""

    began: float
    box: str
    epoch: int
    action: str
    fate: str
    ended: float = float("inf")


@dataclass
class Api:
    """It draws what becomes of each request, and how long that takes."""

    draw: random.Random
    events: list[Event] = field(default_factory=list)

    async def answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        (fate,) = self.draw.choices(tuple(FATES), tuple(FATES.values()))
        _, _, box, _, *undone = seen.line.split(" ")[1].split("/")
        action = f"undo {undone[0]}" if undone else json.loads(seen.body)["action"]
        event = Event(monotonic(), box, int(seen.values("X-Epoch")[0]), action, fate)
        self.events.append(event)
        number = len(self.events)
        await asyncio.sleep(SLOW_S if fate == "slow" else self.draw.choice((0, 0, 0.01, 0.05, 0.2)))
        event.ended = monotonic()
        if fate == "closed":
            writer.close()
            return
        body = b'{"id": "%d"}' % number
        status = "200 OK" if fate == "slow" else fate
        head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)


def broken(events: list[Event]) -> list[str]:
    """What the promises forbid: an older epoch after a newer one, two epochs at a time, one action twice."""
    found: list[str] = []
    for box in BOXES:
        highest, before = 0, list[Event]()
        effects = defaultdict[str, list[Event]](list)
        for event in sorted((one for one in events if one.box == box), key=lambda one: one.began):
            if event.epoch < highest:
                found.append(f"epoch {event.epoch} after {highest}: {event}")
            highest = max(highest, event.epoch)
            found += [
                f"both at a time: {one}, {event}"
                for one in before
                if one.epoch != event.epoch and one.ended > event.began and event.began - one.began < PATIENT_S
            ]
            before.append(event)
            if event.fate not in WITHOUT_EFFECT:
                effects[event.action].append(event)
        found += [f"twice: {many}" for many in effects.values() if len(many) > 1]
    return found


@dataclass
class Drill:
    """Who acts in it, and what they know of each other: tokens and actions of each box, the newest last."""

    gateways: tuple[Gateway, Gateway]
    draw: random.Random
    tokens: dict[str, list[str]] = field(default_factory=lambda: {box: [] for box in BOXES})
    actions: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: {box: [] for box in BOXES})
    told: set[str | None] = field(default_factory=set)

    async def agent(self, name: str) -> None:
        for step in range(STEPS):
            box = self.draw.choice(BOXES)
            # Its worker may be killed in the middle of it.
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                self.told.add((await self._step(name, f"{name}-{step}", box)).decision)

    async def _step(self, name: str, action: str, box: str) -> RawAnswer:
        port, chance, tokens = self.draw.choice(self.gateways).port, self.draw.random(), self.tokens[box]
        if chance < 0.12 or not tokens:
            asked = {"resource": f"box/{box}", "holder": name, "ttl_s": self.draw.choice((2, 5, 30)), "takeover": True}
            answer = await ask(port, "POST", "/-/fence/leases", JSON, body=json.dumps(asked).encode())
            if answer.status == 201:
                tokens.append(json.loads(answer.body)["token"])
            return answer
        token = f"Fencing-Token: {tokens[-1] if self.draw.random() < 0.8 else self.draw.choice(tokens[-4:])}"
        if chance < 0.2:
            asked = {"resource": f"box/{box}"}
            return await ask(port, "POST", "/-/fence/leases/release", JSON, token, body=json.dumps(asked).encode())
        kind = self.draw.choice(KINDS)
        if self.actions[box] and self.draw.random() < 0.35:
            kind, action = self.draw.choice(self.actions[box][-12:])
        else:
            self.actions[box].append((kind, action))
        fields = (JSON, token, f"Idempotency-Key: {action}", *(("Prefer: wait=1",) if self.draw.random() < 0.3 else ()))
        return await ask(port, "POST", f"/m/{box}/{kind}", *fields, body=json.dumps({"action": action}).encode())

    async def operator(self) -> None:
        """Until it is cancelled: approves, sends again, takes back, and raises a floor now and then."""
        while True:
            # Operators think; nothing is waited for.
            await asyncio.sleep(self.draw.uniform(0, 0.2))
            gateway, chance = self.draw.choice(self.gateways), self.draw.random()
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                if chance < 0.4:
                    await self._each(gateway, "awaiting_approval", "approve", 3)
                elif chance < 0.7:
                    await self._each(gateway, "failed", "retry", 3)
                elif chance < 0.9:
                    await self._each(gateway, "applied", "compensate", 1)
                else:
                    await self._operate(gateway, "POST", f"resources/box%2F{self.draw.choice(BOXES)}/advance", {})

    async def _each(self, gateway: Gateway, state: str, verb: str, most: int) -> None:
        listed = await self._operate(gateway, "GET", f"intents?state={state}")
        for item in listed.get("items", [])[:most]:
            shown = await self._operate(gateway, "GET", f"intents/{item['id']}")
            digest = {"digest": shown.get("digest")} if verb == "approve" else {}
            note = {"note": f"a drill {self.draw.random()}"}
            await self._operate(gateway, "POST", f"intents/{item['id']}/{verb}", note | digest)

    async def _operate(self, gateway: Gateway, method: str, call: str, asked: object = None) -> dict[str, Any]:
        body = None if asked is None else json.dumps(asked).encode()
        answer = await ask(gateway.admin, method, f"/api/v1/{call}", JSON, body=body, host="localhost")
        shown: dict[str, Any] = json.loads(answer.body)
        return shown

    async def nemesis(self) -> None:
        """Until it is cancelled: kills a worker, or stops one for longer than a write may take."""
        while True:
            await asyncio.sleep(self.draw.uniform(0.5, 1.5))
            pid = self.draw.choice(self.draw.choice(self.gateways).worker_pids())
            if self.draw.random() < 0.5:
                os.kill(pid, signal.SIGKILL)
                continue
            os.kill(pid, signal.SIGSTOP)
            try:
                # The fault itself: longer than a write may take.
                await asyncio.sleep(3)
            finally:
                os.kill(pid, signal.SIGCONT)


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True], ids=["undisturbed", "workers are killed and stopped"])
@pytest.mark.parametrize("seed", [2, 3])
async def test_epochs_follow_each_other_and_no_action_is_done_twice(
    shared_store: Server, tmp_path: Path, seed: int, killed: bool
) -> None:
    """Whatever is sent by whom, at once or later, again or by an operator, and to which gateway."""
    draw = random.Random(seed)
    api = Api(draw)
    async with RecordingUpstream(api.answer) as upstream:
        policies = write_policies(tmp_path, "mail.yaml", POLICY.replace("PORT", str(upstream.port)))
        async with (
            Gateway(policies, tmp_path / "one", shared_store.url, ("--workers", "2")) as one_of_them,
            Gateway(policies, tmp_path / "two", shared_store.url, ("--workers", "2")) as other,
        ):
            drill = Drill((one_of_them, other), draw)
            beside: list[Coroutine[Any, Any, None]] = [drill.operator(), drill.operator()]
            around = [asyncio.ensure_future(one) for one in (*beside, *([drill.nemesis()] if killed else []))]
            await asyncio.gather(*(drill.agent(f"agent{number}") for number in range(AGENTS)))
            for one in around:
                one.cancel()
            ends = await asyncio.gather(*around, return_exceptions=True)

        assert [end for end in ends if not isinstance(end, asyncio.CancelledError)] == []
        assert broken(api.events) == []
        assert drill.told >= {"granted", "forwarded", "replayed", "queued", "awaiting-approval", "stale-epoch"}
        assert any(event.action.startswith("undo") for event in api.events)


def test_what_breaks_a_promise_is_found() -> None:
    """A judge that is never silent about it, and tells nothing of what is right."""
    one = Event(0.0, "1", 5, "a", "200 OK", 1.0)

    assert broken([one, Event(1.1, "1", 6, "b", "200 OK", 1.2), Event(0.5, "1", 5, "c", "422 No", 0.6)]) == []
    assert len(broken([one, Event(1.1, "1", 4, "b", "200 OK", 1.2)])) == 1
    assert len(broken([one, Event(0.5, "1", 6, "b", "200 OK", 0.7)])) == 1
    assert len(broken([one, Event(1.5, "1", 5, "a", "closed", 1.7)])) == 1
    assert broken([one, Event(0.5, "2", 4, "a", "200 OK", 0.7)]) == []
