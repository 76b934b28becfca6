"""What a gateway knows of wide pauses, and by what it judges writes."""

import asyncio
from dataclasses import replace

import pytest

from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.faults import StoreUnavailable
from gateway.core.pause import PausesInForce, Scope, WidePause
from gateway.core.write import Write
from gateway.flow.clock import BootClock
from gateway.flow.pauses import Pauses
from gateway.flow.waiting import Wakes
from tests.playbook.given import RESOURCE, RULE, lease, write
from tests.playbook.script import Transcript
from tests.playbook.store import ScriptedStore

ALL, UPSTREAM, HOLDER = Scope("all"), Scope("upstream", "u"), Scope("holder", "b")
LEASED = write()
NAMED = replace(LEASED, holder="b", secret_digest=None)
AWAY = StoreUnavailable("away")


class SleepingClock(BootClock):
    """The process has slept for so long."""

    slept_s = 0.0

    def boot(self) -> float:
        return super().boot() + self.slept_s


class Records:
    """The hash of pauses: what it holds when it is read next, or why it cannot be read."""

    def __init__(self) -> None:
        self.holds: PausesInForce | StoreUnavailable = {}
        self.reads = 0

    async def in_force(self) -> PausesInForce:
        self.reads += 1
        await asyncio.sleep(0)
        if isinstance(self.holds, StoreUnavailable):
            raise self.holds
        return self.holds


class Known:
    """Pauses over scripts."""

    def __init__(self, *lookups: object) -> None:
        self.said, self.records, self.clock, self.wakes = Transcript(), Records(), SleepingClock(), Wakes()
        store = ScriptedStore(self.said, lookup=[*lookups])
        self.pauses = Pauses(store, self.records, self.clock, self.wakes)

    async def read(self, *scopes: Scope) -> "Known":
        self.records.holds = {scope: WidePause("p", scope, "sent twice", "operator", 1) for scope in scopes}
        await self.pauses.read()
        return self


def name_of(refused: Refused | None) -> str | None:
    return None if refused is None else refused.decision.name


async def test_while_nothing_is_paused_no_write_need_be_judged() -> None:
    """For a second from before the question; with a pause, every write is."""
    known = await Known().read()
    assert 0 < known.pauses.open_until - known.clock.boot() <= 1
    assert await known.pauses.judge(LEASED) is None

    await known.read(UPSTREAM)

    assert known.pauses.open_until == 0
    refused = await known.pauses.judge(LEASED)
    assert refused is not None
    assert (name_of(refused), refused.facts.resource, refused.facts.epoch) == ("paused", RESOURCE, 42)
    assert name_of(known.pauses.stops(RULE, RESOURCE, "default", None)) == "paused"


async def test_a_gateway_that_slept_asks_before_it_judges() -> None:
    """What was paused meanwhile is stopped; all that wait for the answer cause one question."""
    known = await Known().read()
    known.records.holds = {ALL: WidePause("p", ALL, "sent twice", "operator", 1)}
    known.clock.slept_s = 60.0

    found = await asyncio.gather(*(known.pauses.judge(LEASED) for _ in range(3)))

    assert list(map(name_of, found)) == ["paused"] * 3
    assert known.records.reads == 2


async def test_what_is_only_observed_is_judged_by_what_is_paused_by_now() -> None:
    """A gateway that slept asks; while the store is away nobody waits for it, and what was known stays."""
    known = await Known().read()
    known.records.holds = {ALL: WidePause("p", ALL, "sent twice", "operator", 1)}
    await known.pauses.freshen()
    assert known.pauses.stops(RULE, RESOURCE, "default", None) is None

    known.clock.slept_s = 60.0
    await known.pauses.freshen()
    assert name_of(known.pauses.stops(RULE, RESOURCE, "default", None)) == "paused"

    known.records.holds, known.clock.slept_s = AWAY, 120.0
    for _ in range(2):
        await known.pauses.freshen()
    assert name_of(known.pauses.stops(RULE, RESOURCE, "default", None)) == "paused"
    assert known.records.reads == 3


async def test_a_store_that_is_away_leaves_what_was_known() -> None:
    """A pause stays in force; where none is known of, nobody can say, and no write passes."""
    paused, open = await Known().read(ALL), await Known().read()
    for known in (paused, open):
        known.records.holds = AWAY
        known.clock.slept_s = 60.0

    assert name_of(await paused.pauses.judge(LEASED)) == "paused"
    with pytest.raises(StoreUnavailable):
        await open.pauses.judge(LEASED)


@pytest.mark.parametrize(
    ("of", "lookup", "decision", "asked"),
    [
        (NAMED, None, "paused", 0),
        (replace(NAMED, holder="c"), None, None, 0),
        (LEASED, lease(epoch=42), "paused", 1),
        (LEASED, replace(lease(epoch=42), holder="c"), None, 1),
        (LEASED, lease(epoch=43), None, 1),
        (LEASED, None, None, 1),
        (replace(LEASED, holder="c"), lease(epoch=42), "paused", 1),
        (replace(LEASED, epoch=Epoch(41), holder="b"), lease(epoch=42), "paused", 1),
    ],
    ids=[
        "the one that is named",
        "another one that is named",
        "the one that has the lease",
        "another one that has the lease",
        "the lease is another epoch's",
        "no lease lives",
        "the one that has the lease, under another name",
        "one that says it is, of an older epoch",
    ],
)
async def test_a_paused_holder_is_found_by_its_lease(
    of: Write, lookup: object, decision: str | None, asked: int
) -> None:
    """Who writes with a lease's secret need not name itself; what is not of its epoch is the fence's to refuse."""
    known = await Known(lookup).read(HOLDER)

    assert name_of(await known.pauses.judge(of)) == decision
    assert known.said == ["lookup"] * asked


async def test_no_lease_is_looked_up_unless_a_holder_is_paused() -> None:
    """A pause of anything else needs no further question."""
    known = await Known().read(Scope("upstream", "another"))

    assert await known.pauses.judge(LEASED) is None
    assert known.said == []


@pytest.mark.parametrize("scopes", [(ALL,), ()], ids=["begun", "ended"])
async def test_the_answer_to_the_later_question_counts(scopes: tuple[Scope, ...]) -> None:
    """Whichever comes last: what has begun meanwhile is not forgotten, nor does what has ended stop anybody."""
    known = await Known().read(*(() if scopes else (ALL,)))
    records, late = known.records, asyncio.Event()
    before, answer = records.holds, records.in_force

    async def old() -> PausesInForce:
        await late.wait()
        assert not isinstance(before, StoreUnavailable)
        return before

    records.in_force = old
    reading = asyncio.ensure_future(known.pauses.read())
    await asyncio.sleep(0)
    records.in_force = answer
    await known.read(*scopes)
    late.set()
    await reading

    assert name_of(await known.pauses.judge(LEASED)) == ("paused" if scopes else None)


async def test_a_change_wakes_whoever_waits() -> None:
    """Once: what is read again as it was is no change."""
    known = await Known().read()
    with known.wakes.interest(RESOURCE) as interest:
        await known.read()
        assert not interest.is_woken

        await known.read(ALL)
        assert interest.is_woken

        interest.forget()
        await known.read(ALL)
        assert not interest.is_woken


async def test_pauses_are_read_again_when_the_store_says_so() -> None:
    """And go on being read after the store was away."""
    known = Known()
    watching = asyncio.ensure_future(known.pauses.watch())
    try:
        async with asyncio.timeout(5):
            while not known.records.reads:
                await asyncio.sleep(0)
            for holds in (AWAY, {ALL: WidePause("p", ALL, "sent twice", "operator", 1)}):
                known.records.holds, reads = holds, known.records.reads
                known.wakes.on_wake(None)
                while known.records.reads == reads:
                    await asyncio.sleep(0)
            while not known.pauses.in_force:
                await asyncio.sleep(0)
    finally:
        watching.cancel()

    with pytest.raises(asyncio.CancelledError):
        await watching
