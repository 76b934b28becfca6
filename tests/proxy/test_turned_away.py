"""A connection beyond those that are accepted costs next to nothing, whatever its caller does."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.proxy import turned_away
from gateway.proxy.turned_away import TurnedAway
from tests.certificates import Authority
from tests.raw import RawClient, request
from tests.until import until


@contextlib.asynccontextmanager
async def listening() -> AsyncIterator[int]:
    server = await asyncio.get_running_loop().create_server(TurnedAway, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
    await until(lambda: TurnedAway._open == 0)


async def test_it_is_answered_once() -> None:
    """However many requests it sends."""
    async with listening() as port, RawClient(port) as client:
        await client.send(request("GET", "/") * 3)
        answer, end = await client.answer(), await client.line()

    assert (answer.status, answer.decision, answer.value("Retry-After")) == (503, "overloaded", "2")
    assert (answer.value("Connection"), end) == ("close", b"")


async def test_one_that_says_nothing_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for it."""
    monkeypatch.setattr(turned_away, "_WITHIN_S", 0.05)
    async with listening() as port, RawClient(port) as client:
        with pytest.raises(ConnectionError):
            await client.answer()


async def test_beyond_a_bound_it_is_reset(monkeypatch: pytest.MonkeyPatch) -> None:
    """A flood is not answered."""
    monkeypatch.setattr(turned_away, "_MOST", 1)
    async with listening() as port, RawClient(port) as first:
        await until(lambda: TurnedAway._open == 1)
        async with RawClient(port) as second:
            with pytest.raises(ConnectionError):
                await second.answer()
        await first.send(request("GET", "/"))
        assert (await first.answer()).status == 503


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_a_worker_has_another_event_loop(tls: bool, tmp_path: Path) -> None:
    """Its transports are of other classes, and do the same."""
    uvloop = pytest.importorskip("uvloop")
    authority = Authority(tmp_path)

    async def ask() -> int:
        server = await asyncio.get_running_loop().create_server(
            TurnedAway, "127.0.0.1", 0, ssl=authority.server("localhost") if tls else None
        )
        async with server, RawClient(server.sockets[0].getsockname()[1], authority.client() if tls else None) as client:
            await client.send(request("PUT", "/", body=bytes(100_000)))
            return (await client.answer()).status

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(ask()) == 503
