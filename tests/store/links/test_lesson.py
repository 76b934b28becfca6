"""What a server is being sent, and who waits for that."""

import asyncio

import pytest

from gateway.store.links.lesson import lesson, taught
from gateway.store.links.link import Reply


class Somebody:
    """A server; what it is sent is no matter here."""

    runs_functions = True

    async def send(self, command: bytes, /) -> Reply:
        return command


async def test_nobody_waits_where_nothing_is_sent() -> None:
    """Neither before a lesson, nor for another script's or another server's."""
    server = Somebody()

    with lesson(server, "admit"):
        assert not await taught(server, "settle")
        assert not await taught(Somebody(), "admit")

    assert not await taught(server, "admit")


async def test_others_wait_until_it_is_over() -> None:
    """They are told that somebody has sent it, so that they ask again."""
    server = Somebody()
    with lesson(server, "admit"):
        waiting = asyncio.ensure_future(taught(server, "admit"))
        await asyncio.sleep(0)
        assert not waiting.done()

    assert await waiting


async def test_a_lesson_that_fails_is_over_too() -> None:
    """Nobody waits for one who has given up, and one of those who waited may begin anew."""
    server = Somebody()
    with pytest.raises(ConnectionError), lesson(server, "admit"):
        waiting = asyncio.ensure_future(taught(server, "admit"))
        await asyncio.sleep(0)
        raise ConnectionError

    assert await waiting
    with lesson(server, "admit"):
        pass


async def test_one_who_no_longer_waits_ends_nothing() -> None:
    """A caller that is cancelled takes the others' lesson from nobody."""
    server = Somebody()
    with lesson(server, "admit"):
        leaving, staying = (asyncio.ensure_future(taught(server, "admit")) for _ in range(2))
        await asyncio.sleep(0)
        leaving.cancel()
        await asyncio.sleep(0)
        assert leaving.cancelled()
        assert not staying.done()

    assert await staying
