"""Calls whose connection stood still until nobody waited for them any more: executed then, they change nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import redis

from gateway.core.decision import UNAUTHENTICATED, Refused
from gateway.core.delivery import GivenUp
from gateway.core.epoch import Epoch
from gateway.core.faults import StoreUnavailable
from gateway.core.pause import Scope
from gateway.core.quota import Quota
from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolve, pause, resolve, resume
from gateway.store.parking import Decide, decide, retry
from gateway.store.pauses import begin_pause, end_pause, new_pause_id
from gateway.store.quotas import QuotaUse
from gateway.store.script import Script
from tests.store.compensating import applied, asked
from tests.store.fences import (
    LEASE_MS,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    TTL_S,
    admitted,
    ask,
    bare,
    ended,
    everything,
    granted,
    keyed,
    name_of,
    opened,
    settled,
)
from tests.store.parked import APPROVED, REQUEST, as_kept, delivered, delivering, id_of, mail, parked
from tests.store.server import Server
from tests.store.test_script import NAMES

ONE = mail("one")
Call = Callable[[], Awaitable[object]]

# Why these may be executed however late; the others do nothing then.
MAY_COME_LATE = {
    **dict.fromkeys(("settle", "report"), "says what has happened, of one attempt"),
    **dict.fromkeys(("refuse", "quarantine"), "keeps what was refused, for people to look at"),
    **dict.fromkeys(
        ("sweep", "expire", "prune", "collect", "recount"), "does what is due by the time at which it runs"
    ),
    **dict.fromkeys(("take", "ask", "claim"), "gives one caller its turn for a moment, and its caller is gone"),
    "fail": "ends what is as it was taken, which its policies took no longer",
    "leave": "gives up a place in a line, which whoever still waits takes anew",
    "release": "ends what its holder has given back: it is about one epoch",
    "extend": "lengthens one ticket, which ends with its session",
    **dict.fromkeys(("spend", "reserve"), "counts what was never used, for a time"),
    **dict.fromkeys(("give_back", "confirm"), "is about attempts that have ended"),
    "reset": "is about one era, and the epoch that was looked at",
    **dict.fromkeys(("accept", "accept_shard", "regress", "regress_shard"), "is about one loss"),
    "restore_pauses": "restores no pause that was ended",
    "mark": "is compared with what the process remembered",
    "seal": "is compared with the newest seal",
    "drop": "is about one thing that was kept",
    "resend": "has a message sent that is sent at least once anyhow",
    "usage": "takes out what has left its window",
}


def recorded(raw: Any) -> dict[bytes, bytes]:
    """All that the scripts keep; beside it are counters, which are counted anew."""
    return {key: dump for key, dump in everything(raw).items() if key.startswith(b"fg:{")}


async def write(store: FenceStore) -> Call:
    return lambda: ask(store, keyed(bare(42)))


async def queued_write(store: FenceStore) -> Call:
    return lambda: store.park(ONE, REQUEST)


async def freed_write(store: FenceStore) -> Call:
    """Its key is free again, and would take it as a new one."""
    await settled(store, await admitted(store, keyed(bare(42), digest=f"{'one':-<22}")), "not_applied")
    return lambda: store.park(ONE, REQUEST)


async def write_that_wants_an_approval(store: FenceStore) -> Call:
    return lambda: store.park(mail("one", of=APPROVED), REQUEST)


async def delivery(store: FenceStore) -> Call:
    await parked(store, ONE)
    one = await as_kept(store, ONE)
    return lambda: store.deliver(one, store.new_ticket(RESOURCE), ttl_s=TTL_S, queued=False, behind=0)


async def compensation(store: FenceStore) -> Call:
    first = await applied(store)
    return lambda: asked(store, first)


async def grant(store: FenceStore) -> Call:
    await granted(store)
    return lambda: granted(store, "B", OTHER_SECRET, takeover=True)


async def renewal(store: FenceStore) -> Call:
    lease = await granted(store)
    return lambda: store.renew(RESOURCE, lease.epoch, SECRET)


async def count_of_a_lease(store: FenceStore) -> Call:
    """It may have been given back meanwhile."""
    quotas, ends_ms = QuotaUse(store), store.expected_ms() + LEASE_MS
    return lambda: quotas.hold(Quota("ada", leases=1), b"lease", ends_ms, instead=None)


async def registration(store: FenceStore) -> Call:
    await admitted(store, bare(42))
    return lambda: store.register(RESOURCE, Epoch(43), "B", watch=False)


async def named_advance(store: FenceStore) -> Call:
    lease = await granted(store)
    return lambda: store.advance(RESOURCE, Epoch(lease.epoch + 1), "a call")


async def approval(store: FenceStore) -> Call:
    one = await parked(store, mail("one", of=APPROVED))
    assert one.parking is not None
    yes = Decide("approve", "operator", None, "looks right", one.parking.digest)
    return lambda: decide(store, one, yes)


async def another_try(store: FenceStore) -> Call:
    await parked(store, ONE)
    async with delivering(store) as queue:
        await delivered(queue, ONE, "not_applied", GivenUp())
    failed = await store.recall(id_of(ONE))
    assert failed is not None
    return lambda: retry(store, failed, note="", by="operator")


async def word_on_an_outcome(store: FenceStore) -> Call:
    one = await ended(store, keyed(bare(42)), "unknown")
    record = await store.recall(one.intent)
    assert record is not None
    return lambda: resolve(store, record, Resolve("not_applied", "operator", "looked", "operator"))


async def pause_of_a_resource(store: FenceStore) -> Call:
    return lambda: pause(store, RESOURCE, id="p", reason="", by="operator")


async def end_of_a_resources_pause(store: FenceStore) -> Call:
    """Whoever pauses it again meanwhile is told that it lasts."""
    begun = await pause(store, RESOURCE, id="p", reason="", by="operator")
    return lambda: resume(store, begun)


async def wide_pause(store: FenceStore) -> Call:
    return lambda: begin_pause(store, Scope("all"), id=new_pause_id(), reason="", by="operator")


async def end_of_a_wide_pause(store: FenceStore) -> Call:
    begun = await begin_pause(store, Scope("all"), id=new_pause_id(), reason="", by="operator")
    assert not isinstance(begun, Refused)
    return lambda: end_pause(store, begun, "operator")


CALLS = [
    ("admit", write),
    ("admit", queued_write),
    ("admit", freed_write),
    ("admit", write_that_wants_an_approval),
    ("deliver", delivery),
    ("compensate", compensation),
    ("grant", grant),
    ("renew", renewal),
    ("hold", count_of_a_lease),
    ("register", registration),
    ("advance", named_advance),
    ("decide", approval),
    ("retry", another_try),
    ("resolve", word_on_an_outcome),
    ("pause", pause_of_a_resource),
    ("resume", end_of_a_resources_pause),
    ("begin_pause", wide_pause),
    ("end_pause", end_of_a_wide_pause),
]


@pytest.mark.parametrize(("script", "prepare"), CALLS, ids=[prepare.__name__ for _, prepare in CALLS])
async def test_what_is_executed_after_its_call_was_given_up_changes_nothing(
    store: FenceStore, raw: Any, script: str, prepare: Callable[[FenceStore], Awaitable[Call]]
) -> None:
    """Whoever called was told that the store is away, and may have no right by now, or have done something else."""
    call = await prepare(store)
    before, asked = recorded(raw), list[str]()
    store.answers_within_s, store.on_call = -60.0, lambda name, _: asked.append(name)

    with pytest.raises(StoreUnavailable, match="later than it was asked"):
        await call()

    assert asked[-1] == script and recorded(raw) == before


async def test_a_store_that_stood_still_does_nothing_of_it_when_it_goes_on(tmp_path: Path) -> None:
    """Its process was stopped until nobody waited any more; it finds what was sent to it meanwhile."""
    server = Server(find_server(), tmp_path, "--save", "", "--appendonly", "no")
    server.start()
    try:
        async with opened(server.url, timeout_s=1.0) as store:
            store.answers_within_s = 1.0
            await settled(store, await admitted(store, bare(42)), "applied")
            with redis.Redis.from_url(server.url) as raw:
                before = recorded(raw)
                server.pause()
                sent = [ask(store, keyed(bare(43))), store.park(ONE, REQUEST), granted(store, takeover=True)]
                told = await asyncio.gather(*sent, return_exceptions=True)
                server.resume()
                # Behind the first answer it has looked at all connections.
                assert raw.ping() and raw.ping()

                assert [type(each) for each in told] == [StoreUnavailable] * 3
                assert recorded(raw) == before
    finally:
        server.kill()


def test_of_each_script_it_is_known_whether_it_may_come_late() -> None:
    """It does nothing then, or there is a reason, or it writes nothing at all."""
    writing = {name for name in NAMES if "\n-- Writes   nothing\n" not in Script(name).text}

    assert sorted({script for script, _ in CALLS} | set(MAY_COME_LATE)) == sorted(writing)
    assert not {script for script, _ in CALLS} & set(MAY_COME_LATE)


async def test_a_call_does_nothing_once_it_has_failed(store: FenceStore) -> None:
    """As long as its answer is waited for, since its asker has looked whether it may be done."""
    store.answers_within_s = 30.0
    now = store._clock.read()

    assert store.given_up_ms() - store.expected_ms() == pytest.approx(30_000, abs=50)
    assert store.given_up_ms(now - 20) - store.expected_ms() == pytest.approx(10_000, abs=50)


async def test_who_looks_again_behind_a_slow_answer_may_ask_again(
    store: FenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a stall a write is asked for anew, for it is looked at again; what would be taken at once is not."""
    store.answers_within_s = -60.0
    asked = list[float]()

    def is_in_time(*_: object) -> int:
        asked.append(0.0)
        return store.expected_ms() + (1000 if len(asked) == 2 else -1000)

    monkeypatch.setattr(store, "given_up_ms", is_in_time)

    assert name_of(await ask(store, keyed(bare(42)))) == "Admitted"
    asked.clear()
    with pytest.raises(StoreUnavailable):
        await store.park(ONE, REQUEST)
    assert len(asked) == 1


async def test_what_is_taken_was_looked_at_just_before(store: FenceStore, raw: Any) -> None:
    """A process that was stopped behind its look takes nothing when it is continued."""
    clock, boot = store._clock, store._clock.read

    async def look() -> None:
        assert clock._offset_s is not None
        clock.read = lambda: boot() + 60
        clock._last_s = clock._offset_s = clock._offset_s - 60

    with pytest.raises(StoreUnavailable, match="later than it was asked"):
        await store.park(ONE, REQUEST, look)

    assert recorded(raw) == {}


async def test_what_is_forbidden_by_now_is_not_taken(store: FenceStore, raw: Any) -> None:
    """Its caller is told why."""
    forbidden = Refused(UNAUTHENTICATED, "a key of nobody")

    async def look() -> Refused:
        return forbidden

    assert await store.park(ONE, REQUEST, look) is forbidden
    assert recorded(raw) == {}
