"""G1 over a failover: gateways on a store behind sentinels go on by themselves, and nothing older is let in then."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from tests.recording import RecordingUpstream
from tests.store.topology.guarded import GuardedServers, start_guarded
from tests.story.gateways import Gateway, write_policy
from tests.until import until

pytestmark = [pytest.mark.promise("G1"), pytest.mark.slow]

_RESOURCES = 8
# Beyond the failover itself, which is the sentinels' matter.
_RECOVERS_WITHIN_S = 5.0


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[GuardedServers]:
    """Two replicas: after the failover there is one left to be waited for."""
    guarded = start_guarded(tmp_path / "store", 2)
    yield guarded
    guarded.stop()


@dataclass
class Agents:
    """For each resource: a holder that takes over with a larger epoch each time, and the one before it, which does not
    know. What a gateway could not record is tried again under the same epoch.
    """

    gateways: tuple[Gateway, Gateway]
    epochs: dict[int, int] = field(default_factory=lambda: dict.fromkeys(range(_RESOURCES), 41))
    refused: int = 0
    stopped: bool = False

    async def run(self) -> None:
        await asyncio.gather(*map(self._take_turns, range(_RESOURCES)))

    async def _take_turns(self, resource: int) -> None:
        one, two = self.gateways
        while not self.stopped:
            epoch = self.epochs[resource] + 1
            newer = await one.put(str(resource), epoch, "new", body=f'"{epoch}"'.encode())
            if newer.status != 200:
                assert (newer.status, newer.value("Retry-After") is not None) == (503, True), newer
                self.refused += 1
                await asyncio.sleep(0.1)
                continue
            self.epochs[resource] = epoch
            older = await two.put(str(resource), epoch - 1, "old", body=b'"stale"')
            assert older.status in (412, 503), older
            one, two = two, one

    async def go_on(self) -> None:
        """Every resource is written again."""
        before = dict(self.epochs)
        await until(lambda: all(self.epochs[resource] > before[resource] for resource in before))


async def test_the_primary_dies_under_load(guarded: GuardedServers, tmp_path: Path) -> None:
    """What was acknowledged is at a replica: its epoch rules after the failover too, through both gateways."""
    options = ("--durability", "replica:1")
    first = guarded.primary()
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with (
            Gateway(policies, tmp_path / "one", guarded.url, options) as one,
            Gateway(policies, tmp_path / "two", guarded.url, options) as two,
        ):
            agents = Agents((one, two))
            running = asyncio.ensure_future(agents.run())
            await agents.go_on()
            first.stop()
            await guarded.promoted(first)
            promoted_at = asyncio.get_running_loop().time()
            await agents.go_on()
            recovered_s = asyncio.get_running_loop().time() - promoted_at
            agents.stopped = True
            await running

    print(f"all written again {recovered_s:.2f} s after the promotion; {agents.refused} were told to wait")
    assert recovered_s < _RECOVERS_WITHIN_S
    assert b'"stale"' not in [seen.body for seen in upstream.seen]
