"""Connections: kept, limited, handed out in order of asking."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.places import Places
from gateway.core.rule import Limits, Origin, Pem, Timeouts, Tls, Upstream
from gateway.upstream.pool import Crowded, Pool, Unreachable, tls_context
from gateway.upstream.wire import Wire, connect
from tests.certificates import Authority
from tests.listening import Listening
from tests.recording import RecordingUpstream
from tests.until import until


class Time:
    """Seconds that the test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def recorder() -> AsyncIterator[RecordingUpstream]:
    async with RecordingUpstream() as running:
        yield running


def pool_to(port: int, time: Time | None = None, *, connections: int = 1, connect_s: float = 20.0) -> Pool:
    limits, timeouts = Limits(connections=connections), Timeouts(connect_s=connect_s)
    return Pool(Upstream("u", Origin("http", "127.0.0.1", port), limits=limits, timeouts=timeouts), time or Time())


async def test_a_connection_between_two_messages_is_used_again(recorder: RecordingUpstream) -> None:
    """The same one, as long as it is young."""
    time = Time()
    pool = pool_to(recorder.port, time)
    first = await pool.acquire()
    pool.release(first, reusable=True)
    time.now = 4.0

    assert await pool.acquire() is first
    pool.release(first, reusable=False)


async def test_a_connection_that_idled_too_long_is_not_used(recorder: RecordingUpstream) -> None:
    """The upstream may be about to close it."""
    time = Time()
    pool = pool_to(recorder.port, time)
    first = await pool.acquire()
    pool.release(first, reusable=True)
    time.now = 4.1
    second = await pool.acquire()

    assert second is not first and first.closed
    pool.release(second, reusable=False)


async def test_a_connection_in_the_middle_of_a_message_is_closed(recorder: RecordingUpstream) -> None:
    """Its place is free for another."""
    pool = pool_to(recorder.port)
    first = await pool.acquire()
    pool.release(first, reusable=False)
    second = await pool.acquire()

    assert first.closed and second is not first
    pool.release(second, reusable=False)


@pytest.mark.parametrize("reusable", [True, False], ids=["handed on", "opened anew"])
async def test_who_waits_longest_is_served_first(recorder: RecordingUpstream, reusable: bool) -> None:
    """Nobody who comes later passes, not even in the moment when a connection comes back."""
    pool = pool_to(recorder.port)
    order: list[int] = []

    async def use(number: int) -> None:
        wire = await pool.acquire()
        order.append(number)
        pool.release(wire, reusable=reusable)

    held = await pool.acquire()
    waiting = [asyncio.ensure_future(use(1)), asyncio.ensure_future(use(2))]
    await asyncio.wait(waiting, timeout=0)
    pool.release(held, reusable=reusable)
    await asyncio.gather(use(3), *waiting)

    assert order == [1, 2, 3]
    pool.retire()


async def test_whoever_gives_up_passes_its_turn_on(recorder: RecordingUpstream) -> None:
    """Cancelled in the moment when a connection came back: the next one has it."""
    pool = pool_to(recorder.port)
    held = await pool.acquire()
    first, second = asyncio.ensure_future(pool.acquire()), asyncio.ensure_future(pool.acquire())
    await asyncio.wait((first, second), timeout=0)
    pool.release(held, reusable=True)
    first.cancel()

    assert await second is held
    assert first.cancelled()
    pool.release(held, reusable=False)


async def test_a_busy_upstream_is_unreachable_after_the_connect_timeout(recorder: RecordingUpstream) -> None:
    """Nothing was sent; the limit still holds afterwards, and the place is not lost."""
    pool = pool_to(recorder.port, connect_s=0.05)
    held = await pool.acquire()

    with pytest.raises(Unreachable, match=r"all 1 connections stayed busy within 0\.05 s"):
        await pool.acquire()
    pool.release(held, reusable=True)
    assert await pool.acquire() is held
    pool.release(held, reusable=False)


async def test_a_failed_connection_gives_its_place_back() -> None:
    """An upstream that refuses all day does not use its own limit up."""
    async with RecordingUpstream() as gone:
        port = gone.port
    pool = pool_to(port)

    for _ in range(3):
        with pytest.raises(Unreachable, match=f":{port}: "):
            await pool.acquire()


async def test_idle_connections_are_closed_although_nobody_comes(
    recorder: RecordingUpstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upstream that is gone from the policies keeps no connection. The limit holds."""
    monkeypatch.setattr("gateway.upstream.pool._IDLE_S", 0.05)
    limits = Limits(connections=2)
    now = asyncio.get_running_loop().time
    pool = Pool(Upstream("u", Origin("http", "127.0.0.1", recorder.port), limits=limits), now)
    first, second = await pool.acquire(), await pool.acquire()
    pool.release(first, reusable=True)

    await until(lambda: first.closed)
    pool.release(second, reusable=True)
    assert await pool.acquire() is second
    third = await pool.acquire()
    pool.release(third, reusable=True)

    await until(lambda: third.closed)
    assert not second.closed
    pool.release(second, reusable=False)


async def test_a_retired_pool_keeps_nothing(recorder: RecordingUpstream) -> None:
    """What is idle is closed at once, what is in use as it comes back."""
    pool = pool_to(recorder.port, connections=2)
    idle, used = await pool.acquire(), await pool.acquire()
    pool.release(idle, reusable=True)
    pool.retire()

    assert idle.closed and not used.closed
    pool.release(used, reusable=True)
    assert used.closed


def test_a_plain_upstream_has_no_tls() -> None:
    """`http` needs no context."""
    assert tls_context(Upstream("u", Origin("http", "localhost", 80))) is None


def test_tls_files_that_cannot_be_used_are_an_error() -> None:
    """A missing CA or certificate is said at once, not at the first request."""
    for tls in (Tls(ca="/nowhere/ca.pem"), Tls(cert="/nowhere/cert.pem", key="/nowhere/key.pem")):
        with pytest.raises(OSError):
            tls_context(Upstream("u", Origin("https", "localhost", 443), tls=tls))


class Talkative(Listening):
    """Says something to whoever connects."""

    port = 0
    spoken = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            writer.write(b"HTTP/1.1 422 Nope\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            self.spoken += 1
            await self._tell()
            await reader.read()
        except ConnectionError:
            pass
        finally:
            writer.close()


async def test_whoever_speaks_before_it_is_asked_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its answer would be taken for that of whatever is sent first; another connection is opened next time."""
    async with Talkative() as upstream:
        pool = pool_to(upstream.port)

        async def slowly(*to: Any) -> Wire:
            before = upstream.spoken
            made = await connect(*to)
            await upstream.until(lambda: upstream.spoken > before)
            return made

        monkeypatch.setattr("gateway.upstream.pool.connect", slowly)
        for _ in range(2):
            with pytest.raises(Unreachable, match="before it was asked"):
                await pool.acquire()


def test_tls_files_count_as_they_were_at_load(tmp_path: Path) -> None:
    """Whatever has become of them since."""
    authority = Authority(tmp_path / "tls")
    cert, key = authority.issue("gateway")
    pem = Pem(authority.ca.read_bytes(), cert.read_bytes(), key.read_bytes())
    for file in (authority.ca, cert, key):
        file.write_bytes(b"half")
    tls = Tls(ca=str(authority.ca), cert=str(cert), key=str(key), pem=pem)

    context = tls_context(Upstream("u", Origin("https", "localhost", 443), tls=tls))

    assert context is not None
    assert len(context.get_ca_certs()) == 1
    assert "PRIVATE" not in repr(tls)


@pytest.mark.parametrize("for_read", [False, True], ids=["write", "read"])
async def test_whoever_finds_a_long_line_is_not_made_to_wait(recorder: RecordingUpstream, for_read: bool) -> None:
    """One place is left, which a read may have and a write may not; whoever waits has its turn."""
    limits, places = Limits(connections=4), Places(4)
    pool = Pool(Upstream("u", Origin("http", "127.0.0.1", recorder.port), limits=limits), Time(), places)
    wires = [await pool.acquire() for _ in range(4)]
    line = [asyncio.ensure_future(pool.acquire()) for _ in range(1)]
    await asyncio.sleep(0)

    if for_read:
        line.append(asyncio.ensure_future(pool.acquire(for_read=True)))
    else:
        with pytest.raises(Crowded):
            await pool.acquire()

    for wire in wires:
        pool.release(wire, reusable=True)
    for waited, reads in zip(line, (False, True), strict=False):
        pool.release(await waited, reusable=False, for_read=reads)
    assert places.has_one("connection")
    pool.retire()
