"""Scripted ports: canned decisions and evidence, and one transcript of what was asked and answered.

Nothing here has an opinion: a call takes the next line of its script. A line that is an exception is raised; a line
that is `STUCK` never comes back, so that whoever waits for it can be cancelled there.
"""

import asyncio
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

from gateway.core.clock import Deadline
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.lease import Lease
from gateway.core.outcome import NoReply, NotSent, Outcome
from gateway.core.request import HeaderPairs, Headers, Request
from gateway.core.rule import Origin, Rule, Timeouts, Upstream
from gateway.core.target import Target, read_target
from gateway.core.write import AdmitReply, Admitted, ResourceKey, Settled, TicketId, Waiting, Write
from gateway.flow.ports import BodySource, Marks

STUCK = "stuck"

UPSTREAM = Upstream("u", Origin("http", "localhost", 80), timeouts=Timeouts(total_s=30.0))
RULE = Rule("r", UPSTREAM)
RESOURCE = ResourceKey("report/7")
OTHER = ResourceKey("report/8")


def write(rule: Rule = RULE, epoch: int = 42) -> Write:
    return Write(rule, RESOURCE, Epoch(epoch), None, b"digest")


def request(method: str = "PUT") -> Request:
    target = read_target("/reports/7")
    assert isinstance(target, Target)
    return Request(method, target, Headers(()))


def lease(in_flight: int = 0, epoch: int = 43) -> Lease:
    return Lease(RESOURCE, "b", Epoch(epoch), 60_000, 1_000_000, in_flight)


class Transcript(list[str]):
    """What was asked and answered, in order; `until` waits for a line, or for so many of them."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = asyncio.Event()

    def say(self, line: str) -> None:
        self.append(line)
        self._changed.set()

    async def until(self, line: str, times: int = 1) -> None:
        async with asyncio.timeout(5):
            while self.count(line) < times:
                self._changed.clear()
                await self._changed.wait()


class Script[T]:
    """The lines of one port's call. Running out of them is the test's mistake."""
