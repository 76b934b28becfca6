"""A call that a proxy before the store delivers once more, after the same was asked over another connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from gateway.core.decision import Refused
from gateway.core.delivery import GivenUp
from gateway.core.faults import StoreUnavailable
from gateway.core.lease import Lease
from gateway.core.write import Admitted, Waiting
from gateway.store.compensations import Compensations
from gateway.store.fence import FenceStore
from gateway.store.views.intent_views import intents
from gateway.store.views.resource_views import tickets
from tests.listening import Listening
from tests.proxy.mail import proof
from tests.raw import ask as asked
from tests.stack import stack
from tests.store import compensating, parked
from tests.store.fences import (
    INTENT,
    LEASE_MS,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    admitted,
    ask,
    bare,
    ended,
    granted,
    keyed,
    opened,
    rule,
    settled,
    state_of,
)
from tests.until import until

_PIECE = 65536
POLICY = """
upstream: reports
url: http://localhost:{port}
timeouts: {{connect: 1s, total: 1s}}
writes:
  - name: write
    match: PUT /report/{{id}}
    resource: report/{{path.id}}
    authority: header
    fence: {{after_unknown: hold}}
"""


class Proxy(Listening):
    """Before the store's socket. What is asked once it `holds` stays here, and its caller is cut off.

    What it `loses` is executed, and its caller is cut off once it `goes_on`, without the answer.
    """

    def __init__(self, url: str) -> None:
        self.port = 0
        self.holds: bytes | None = None
        self.loses: bytes | None = None
        self.goes_on = asyncio.Event()
        self._path = urlsplit(url).path
        self._held = b""
        self._lost = False

    def has_lost(self) -> bool:
        """Whether the store has executed that of which the answer is lost."""
        return self._lost

    async def deliver(self) -> None:
        """What was held, over the connection's other end; its answer has nobody to go to."""
        assert self._held
        behind, ahead = await asyncio.open_unix_connection(self._path)
        ahead.write(self._held)
        await behind.read(1)
        ahead.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, ahead = await asyncio.open_unix_connection(self._path)
        drops = asyncio.Event()
        back = asyncio.ensure_future(self._back(behind, writer, drops))
        try:
            while piece := await reader.read(_PIECE):
                if self.holds is not None and self.holds in piece:
                    self.holds, self._held = None, piece
                    return
                if self.loses is not None and self.loses in piece:
                    self.loses = None
                    drops.set()
                    ahead.write(piece)
                    await self.goes_on.wait()
                    return
                ahead.write(piece)
        except OSError:
            return
        finally:
            back.cancel()
            ahead.transport.abort()
            writer.transport.abort()

    async def _back(self, behind: asyncio.StreamReader, writer: asyncio.StreamWriter, drops: asyncio.Event) -> None:
        with contextlib.suppress(OSError):
            while piece := await behind.read(_PIECE):
                if drops.is_set():
                    self._lost = True
                else:
                    writer.write(piece)


@pytest.fixture
async def way(store_url: str) -> AsyncIterator[Proxy]:
    async with Proxy(store_url) as way:
        yield way


def url_of(way: Proxy) -> str:
    return f"redis://127.0.0.1:{way.port}"


async def _is_over(store: FenceStore) -> bool:
    return await tickets(store, RESOURCE) == ()


async def test_what_was_abandoned_is_ended_again(
    way: Proxy, store: FenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes back behind the end of its write, which had another ticket, and is never unknown."""
    monkeypatch.setattr("gateway.store.abandoned._GRACE_S", 0.0)
    write = bare(42, of=rule(total_s=0.5))
    async with opened(url_of(way)) as asking:
        await ended(asking, bare(42), "applied")
        way.holds = b"admit"
        twice = await admitted(asking, write)
        assert twice.asked_twice
        await asking.abandon(write, twice.ticket)
        await settled(asking, await admitted(asking, write), "applied")

        await way.deliver()

        await until(lambda: _is_over(store))
        assert (await intents(store, "unknown", None)).items == ()


async def test_its_write_is_forwarded_once_all_the_same(way: Proxy, store: FenceStore, tmp_path: Path) -> None:
    """And `after_unknown: hold` holds nothing for it."""
    async with stack(url_of(way), tmp_path, POLICY) as gate:
        first = await asked(gate.port, "PUT", "/report/8", *proof(), body=b"{}")
        way.holds = b"admit"
        told = await asked(gate.port, "PUT", "/report/7", *proof(), body=b"{}")
        await way.deliver()
        await until(lambda: _is_over(store))
        after = await asked(gate.port, "PUT", "/report/7", *proof(), body=b"{}")

        assert [one.decision for one in (first, told, after)] == ["forwarded"] * 3
        assert len(gate.upstream.seen) == 3


@pytest.mark.parametrize("others", [0, 1, 2], ids=["its own attempt", "one more", "two more"])
async def test_a_keys_attempt_that_is_over_is_not_admitted_once_more(
    way: Proxy, store: FenceStore, others: int
) -> None:
    """Its key is free again, and the copy of the call that made it does nothing, nor is it a refusal that is told."""
    async with opened(url_of(way)) as asking:
        await ended(asking, keyed(bare(42)), "not_applied")
        way.holds = b"admit"
        for _ in range(1 + others):
            await ended(asking, keyed(bare(42)), "not_applied")
        before = await store.recall(INTENT)

        await way.deliver()

        assert await store.recall(INTENT) == before
        assert before is not None and (before.state, before.attempts) == ("not_applied", 2 + others)
        assert await tickets(store, RESOURCE) == ()


async def test_an_abandoned_attempt_is_not_admitted_once_more(way: Proxy, store: FenceStore) -> None:
    """Nothing was sent under it, and nobody would end it."""
    async with opened(url_of(way)) as asking:
        await ended(asking, bare(42), "applied")
        way.holds = b"admit"
        one = await admitted(asking, keyed(bare(42)))
        await asking.abandon(one.write, one.ticket)

        await way.deliver()

        assert (await state_of(store), await tickets(store, RESOURCE)) == ("not_applied", ())


async def test_what_was_told_to_wait_is_ended(way: Proxy, store: FenceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks again does so under another ticket: one that comes of the first question has nobody."""
    monkeypatch.setattr("gateway.store.abandoned._GRACE_S", 0.0)
    async with opened(url_of(way)) as asking:
        first = await admitted(asking, bare(42))
        way.holds = b"admit"
        assert isinstance(await ask(asking, bare(42, of=rule(total_s=0.5))), Waiting)
        await settled(asking, first, "applied")

        await way.deliver()

        await until(lambda: _is_over(store))
        assert (await intents(store, "unknown", None)).items == ()


@pytest.mark.parametrize("others", [0, 1], ids=["its own taking", "one more"])
async def test_what_was_taken_and_has_failed_is_not_taken_once_more(way: Proxy, store: FenceStore, others: int) -> None:
    """Whoever sent it was told that it failed; it is not delivered behind that."""
    write = parked.mail("one")
    async with opened(url_of(way)) as asking, parked.delivering(store) as queue:
        await parked.parked(asking, parked.mail("another"))
        await parked.delivered(queue, parked.mail("another"), "applied")
        way.holds = b"admit"
        for _ in range(1 + others):
            await parked.parked(asking, write)
            await parked.delivered(queue, write, "not_applied", GivenUp())
        before = await store.recall(parked.id_of(write))

        await way.deliver()

        assert await store.recall(parked.id_of(write)) == before
        assert before is not None and (before.state, before.attempts) == ("failed", 1 + others)


async def test_what_was_found_and_has_failed_is_not_taken_once_more(way: Proxy, store: FenceStore) -> None:
    """By a repeat of it, which was told that it is taken: nor is it by the copy of that."""
    write = parked.mail("one")
    async with opened(url_of(way)) as asking, parked.delivering(store) as queue:
        await parked.parked(asking, write)
        way.holds = b"admit"
        await parked.parked(asking, write)
        await parked.delivered(queue, write, "not_applied", GivenUp())
        before = await store.recall(parked.id_of(write))

        await way.deliver()

        assert await store.recall(parked.id_of(write)) == before
        assert before is not None and (before.state, before.attempts) == ("failed", 1)


async def test_what_was_taken_and_has_failed_is_told_to_who_asks_again(way: Proxy, store: FenceStore, raw: Any) -> None:
    """The link asks once more itself: the answer is the record of what was taken, whatever has become of it."""
    write = parked.mail("one")
    async with opened(url_of(way)) as asking, parked.delivering(store) as queue:
        await parked.parked(asking, parked.mail("another"))
        await parked.delivered(queue, parked.mail("another"), "applied")
        way.loses = b"admit"
        taking = asyncio.ensure_future(parked.parked(asking, write))
        await until(way.has_lost)
        await parked.delivered(queue, write, "not_applied", GivenUp())
        way.goes_on.set()

        assert (await taking).state == "failed"
        assert await parked.queued(store, raw) == []


async def test_a_compensation_that_was_refused_is_not_begun_once_more(way: Proxy, store: FenceStore) -> None:
    """The intent is applied, and may be taken back by another call."""
    first = await compensating.applied(store)
    async with opened(url_of(way)) as asking:
        for holds in (None, b"sent in error"):
            way.holds = holds
            one = await compensating.begun(asking, first)
            await Compensations(asking).settle_of(first.id, one, "not_applied", "answered 409", None)

        await way.deliver()

        assert (await state_of(store), await tickets(store, RESOURCE)) == ("applied", ())
        assert isinstance(await compensating.asked(asking, first), Admitted)


async def test_a_lease_that_was_given_back_is_not_granted_once_more(way: Proxy, store: FenceStore) -> None:
    """It is told once no copy of its call can do anything, and released it is dead for good."""
    async with opened(url_of(way), timeout_s=1) as asking:
        way.holds = b"agent-a"
        lease = await granted(asking, "agent-a", takeover=True)
        await asking.release(RESOURCE, lease.epoch, SECRET)
        other = await granted(store, "agent-b", OTHER_SECRET)

        await way.deliver()

        assert await store.lookup(RESOURCE) == other


async def test_a_lease_that_is_granted_once_more_is_told_as_it_is(way: Proxy, store: FenceStore) -> None:
    """Whoever came in between is overtaken by a call that is not over yet."""
    async with opened(url_of(way), timeout_s=1) as asking:
        way.holds = b"agent-a"
        asked_for = asyncio.ensure_future(granted(asking, "agent-a", takeover=True))
        await until(lambda: _has_lease(store, "agent-a"))
        await granted(store, "agent-b", OTHER_SECRET, takeover=True)
        await way.deliver()
        live = await store.lookup(RESOURCE)
        assert live is not None

        if live.holder == "agent-a":
            assert (await asked_for).epoch == live.epoch
        else:
            # This test was slow, and the copy came too late to do anything.
            with pytest.raises(StoreUnavailable, match="has ended before that could be told"):
                await asked_for


async def test_a_lease_that_is_lost_before_it_is_told_is_not_told(way: Proxy, store: FenceStore) -> None:
    """Nobody knows its token, and its caller may ask anew."""
    async with opened(url_of(way), timeout_s=1) as asking:
        way.holds = b"agent-a"
        asked_for = asyncio.ensure_future(granted(asking, "agent-a", takeover=True))
        await until(lambda: _has_lease(store, "agent-a"))
        other = await granted(store, "agent-b", OTHER_SECRET, takeover=True)

        with pytest.raises(StoreUnavailable, match="has ended before that could be told"):
            await asked_for
        assert await store.lookup(RESOURCE) == other


async def test_a_lease_that_was_refused_is_not_granted_behind_that(way: Proxy, store: FenceStore) -> None:
    """A copy of its call that finds it free meanwhile is told as the grant that it is; none comes later."""
    other = await granted(store, "agent-b", OTHER_SECRET)
    async with opened(url_of(way), timeout_s=1) as asking:
        way.holds = b"agent-a"
        reply = await asking.grant(RESOURCE, "agent-a", SECRET, ttl_ms=LEASE_MS, takeover=False, watch=False)
        await store.release(RESOURCE, other.epoch, OTHER_SECRET)

        await way.deliver()

        assert isinstance(reply, Refused)
        assert await store.lookup(RESOURCE) is None


async def _has_lease(store: FenceStore, holder: str) -> bool:
    live = await store.lookup(RESOURCE)
    return isinstance(live, Lease) and live.holder == holder
