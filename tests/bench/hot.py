"""Goal 5: one serial resource, for which 64 callers wait at two gateways."""

import asyncio
import json
import secrets
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from tests.bench.connection import Connection, connected, keyed_write
from tests.bench.figure import Figure, at_most, percentile
from tests.bench.gateway import Setting, gateway, policies
from tests.bench.process import Failed, cpu_s, free_port, serving
from tests.bench.stage import Stage
from tests.bench.subject import Subject
from tests.bench.trial import Plan

_CALLERS = 64
# Each waits for all the others, and the rule has ten seconds of patience.
_ENDS_WITHIN_S = 20.0


@dataclass(frozen=True, slots=True)
class _Crowd:
    """What a crowd did, and what a write cost: script calls, wake-ups, processor time of both gateways."""

    writes: int
    scripts: float
    wakes: float
    own_us: float
    gaps_us: list[float]


def measure(stage: Stage, plan: Plan) -> Iterator[Figure]:
    with ExitStack() as stack:
        port = free_port()
        command = [sys.executable, "-m", "tests.bench.timed_upstream", str(port)]
        stack.enter_context(serving(command, stage.directory / "timed-upstream.log", port))
        setting = Setting(policies(port))
        gateways = [
            stack.enter_context(gateway(name, stage.directory, stage.store, setting)) for name in ("one", "other")
        ]
        crowds = [_crowd(gateways, stage, port, plan.seconds) for _ in range(plan.rounds)]
    yield Figure("writes of 64 callers through two gateways", "writes/s").of(
        [one.writes / plan.seconds for one in crowds]
    )
    yield Figure("calls of the store", "a write", at_most(6)).of([one.scripts for one in crowds])
    yield Figure("wake-ups by the store", "a write").of([one.wakes for one in crowds])
    yield Figure("from one write's answer to the next write, median", "ms", at_most(1)).of(_gaps_ms(crowds, 50))
    yield Figure("the same, p99", "ms").of(_gaps_ms(crowds, 99))
    yield Figure("both gateways' CPU", "µs a write").of([one.own_us for one in crowds])


def _gaps_ms(crowds: list[_Crowd], percent: float) -> list[float]:
    return [percentile(one.gaps_us, percent) / 1000 for one in crowds]


def _crowd(gateways: list[Subject], stage: Stage, port: int, seconds: int) -> _Crowd:
    stage.store.empty()
    pids = [pid for one in gateways for pid in one.pids]
    _take_gaps(port)
    before = _scripts(stage), stage.store.calls("publish"), cpu_s(pids)
    writes = asyncio.run(_Callers().run([one.port for one in gateways], seconds))
    after = _scripts(stage), stage.store.calls("publish"), cpu_s(pids)
    scripts, wakes, own_s = ((late - early) / writes for early, late in zip(before, after, strict=True))
    return _Crowd(writes, scripts, wakes, own_s * 1e6, _take_gaps(port))


def _scripts(stage: Stage) -> int:
    """What gateways ask of the store are scripts; the commands within them are counted under their own names."""
    return stage.store.calls("fcall", "evalsha", "eval")


def _take_gaps(port: int) -> list[float]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/gaps") as answer:
        gaps: list[float] = json.loads(answer.read())
        return gaps


class _Callers:
    """Each writes again as soon as it was answered, until the time is over."""

    def __init__(self) -> None:
        self._key = secrets.token_hex(8)
        self._sent = 0
        self._answered = 0
        self._refused = 0
        self._is_over = False
        self._under_way = 0
        self._nobody_waits = asyncio.Event()

    async def run(self, ports: list[int], seconds: int) -> int:
        """How many writes were answered. Raises Failed where one was refused."""
        connections = [
            connection
            for port in ports
            for connection in await connected(port, _CALLERS // len(ports), self._on_answer)
        ]
        for connection in connections:
            self._send(connection)
        await asyncio.sleep(seconds)
        self._is_over = True
        try:
            await asyncio.wait_for(self._nobody_waits.wait(), _ENDS_WITHIN_S)
        except TimeoutError:
            raise Failed(f"{self._under_way} writes to a serial resource were not answered") from None
        finally:
            for connection in connections:
                connection.close()
        if self._refused:
            raise Failed(f"{self._refused} of {self._answered} writes to a serial resource were refused")
        return self._answered

    def _send(self, connection: Connection) -> None:
        self._sent += 1
        self._under_way += 1
        connection.send(keyed_write(b"/reports/1", f"{self._key}{self._sent}".encode()))

    def _on_answer(self, connection: Connection, status: int) -> None:
        self._answered += 1
        self._under_way -= 1
        self._refused += not 200 <= status < 300
        if not self._is_over:
            self._send(connection)
        elif self._under_way == 0:
            self._nobody_waits.set()
