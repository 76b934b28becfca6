"""An operator ends an epoch while agents write under it and workers are stopped at random: the rest is stale."""

import asyncio
import json
import os
import random
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.raw import ask
from tests.recording import RecordingUpstream
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policy
from tests.until import until

pytestmark = [pytest.mark.slow, pytest.mark.promise("G1"), pytest.mark.timeout(300)]

REPORTS, WRITES = 16, 12
OLD, NEW = 10, 20
# Workers are stopped meanwhile, on a machine that others may keep busy.
_ADVANCES_WITHIN_S = 120.0


@dataclass
class Story:
    """What is under way, and what became of the writes that began once the operator had an answer."""

    gateways: tuple[Gateway, Gateway]
    chance: random.Random
    later: dict[str, str | None] = field(default_factory=dict)
    stopped: int = 0

    def gateway(self) -> Gateway:
        return self.chance.choice(self.gateways)

    async def write(self, report: int, epoch: int, name: str) -> str | None:
        """None: there was no answer."""
        try:
            async with asyncio.timeout(30):
                answer = await self.gateway().put(str(report), epoch, f"h{epoch}", body=f"{report} {name}".encode())
        except (OSError, EOFError, TimeoutError):
            return None
        return answer.decision

    async def advance(self, report: int) -> None:
        """As often as it takes. 412: it was done before, and its answer was lost on the way from the store."""
        target, body = f"/api/v1/resources/report/{report}/advance", json.dumps({"epoch": str(NEW)}).encode()

        async def is_advanced() -> bool:
            answer = await ask(self.gateway().admin, "POST", target, "Content-Type: application/json", body=body)
            return answer.status in (200, 412)

        await until(is_advanced, within_s=_ADVANCES_WITHIN_S)

    async def round(self, report: int) -> None:
        """The old holder writes on and on; in the middle the operator ends its epoch, and another one writes."""
        assert await self.write(report, OLD, "old-first") is not None
        writing = [asyncio.ensure_future(self._old(report, at)) for at in range(WRITES)]
        await asyncio.sleep(self.chance.random())
        await self.advance(report)
        for at in range(WRITES):
            name = f"late-{at}"
            self.later[f"{report} {name}"] = await self.write(report, OLD, name)
            await self.write(report, NEW, f"new-{at}")
        await asyncio.gather(*writing)

    async def _old(self, report: int, at: int) -> None:
        await asyncio.sleep(self.chance.random() * 2)
        await self.write(report, OLD, f"old-{at}")

    async def stop_workers(self) -> None:
        """One at a time, for less and for more than a write may last."""
        while True:
            await asyncio.sleep(self.chance.random() * 0.3)
            pid = self.chance.choice(self.gateway().worker_pids())
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                try:
                    await asyncio.sleep(self.chance.choice([0.05, 0.5, 2.5]) * self.chance.random())
                finally:
                    os.kill(pid, signal.SIGCONT)
                self.stopped += 1


async def test_nothing_that_began_after_an_advance_is_executed(shared_store: Server, tmp_path: Path) -> None:
    """Through whichever worker of whichever gateway it comes; and once the newer holder has written, nothing older
    arrives any more."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port, total="2s")
        two = tuple(Gateway(policies, tmp_path / name, shared_store.url, ("--workers", "2")) for name in ("one", "two"))
        async with two[0], two[1]:
            story = Story((two[0], two[1]), random.Random(8))
            stopping = asyncio.ensure_future(story.stop_workers())
            try:
                await asyncio.gather(*(story.round(report) for report in range(REPORTS)))
            finally:
                stopping.cancel()
                await asyncio.wait([stopping])

    arrived = [seen.body.decode() for seen in upstream.seen]
    by_report = [[name.partition(" ")[2] for name in arrived if name.startswith(f"{at} ")] for at in range(REPORTS)]
    assert story.stopped > 3
    assert set(story.later.values()) <= {"stale-epoch", "store-unavailable", None}
    assert list(story.later.values()).count("stale-epoch") > REPORTS
    assert not story.later.keys() & set(arrived)
    for names in by_report:
        first = next(at for at, name in enumerate(names) if name.startswith("new"))
        assert all(name.startswith("new") for name in names[first:])
        assert len(set(names)) == len(names)
