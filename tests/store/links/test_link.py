"""The connection: order, coalescing, repeats, deadlines, and what a server's errors mean."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from redis.asyncio.connection import AbstractConnection, parse_url

from gateway.core.faults import StoreUnavailable
from gateway.store.links.connection import connector
from gateway.store.links.link import Link, ScriptMissing, _Wire, pack
from tests.store.scripted import scripted
from tests.store.server import Server
from tests.until import until


@contextlib.asynccontextmanager
async def linked(url: str, timeout_s: float = 2.0) -> AsyncIterator[Link]:
    link = Link(connector(dict(parse_url(url)), timeout_s), timeout_s)
    await link.open()
    try:
        yield link
    finally:
        await link.close()


async def test_cancelled_callers_do_not_shift_the_replies(store_url: str) -> None:
    """200 of 400 callers are cancelled after their commands have left: each of the others gets its own answer."""
    async with linked(store_url) as link:
        calls = [link.send(pack("ECHO", str(number))) for number in range(400)]
        await asyncio.sleep(0)
        for call in calls[::2]:
            call.cancel()

        assert await asyncio.gather(*calls[1::2]) == [str(number).encode() for number in range(1, 400, 2)]
        assert await link.call("ECHO", "last") == b"last"


async def test_a_link_outlives_whatever_goes_wrong_while_it_connects(
    store_server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A connection that is closed between its making and its use fails in ways of the event loop's own."""
    faults = [RuntimeError("unable to perform operation; the handler is closed"), AttributeError("writer")]
    taken = _Wire.__init__

    def failing(self: _Wire, link: Link, connection: AbstractConnection) -> None:
        if faults:
            raise faults.pop()
        taken(self, link, connection)

    async with linked(store_server.url) as link:
        monkeypatch.setattr(_Wire, "__init__", failing)
        assert link._wire is not None
        link._wire.transport.abort()

        assert await link.call("ECHO", "again") == b"again"
        assert faults == []


async def test_a_caller_cancelled_before_its_command_left_sends_nothing(store_url: str) -> None:
    """The command is dropped where it waits."""
    async with linked(store_url) as link:
        link.send(pack("SET", "key", "value")).cancel()

        assert await link.call("GET", "key") is None


async def test_commands_of_one_turn_leave_in_one_write() -> None:
    """Many callers cost one write, in their order."""
    async with scripted() as server, linked(server.url) as link:
        await asyncio.gather(*(link.call("ECHO", number) for number in range(50)))

        assert [command[1] for command in server.asked] == [str(number).encode() for number in range(50)]


@pytest.mark.parametrize(
    "error",
    [
        "MISCONF Redis is configured to save RDB snapshots, but it is unable to persist to disk.",
        "NOAUTH Authentication required.",
        "OOM command not allowed when used memory > 'maxmemory'.",
        "WRONGTYPE Operation against a key holding the wrong kind of value",
        "ERR unknown command",
        "NOPERM this user has no permissions",
    ],
)
async def test_an_error_reply_is_a_store_that_is_away(error: str) -> None:
    """The server's own text is told, nothing is sent again, and the connection goes on."""
    async with scripted(f"-{error}\r\n".encode()) as server, linked(server.url) as link:
        with pytest.raises(StoreUnavailable, match=error.split()[0]):
            await link.call("GET", "key")

        assert await link.call("PING") == b"PONG"
        assert len(server.asked) == 2


@pytest.mark.parametrize(
    "error",
    [
        "LOADING Redis is loading the dataset in memory",
        "BUSY Redis is busy running a script.",
        "READONLY You can't write against a read only replica.",
        "MASTERDOWN Link with MASTER is down",
        "CLUSTERDOWN The cluster is down",
        "TRYAGAIN Multiple keys request during rehashing of slot",
    ],
)
async def test_an_error_that_passes_is_waited_out(error: str) -> None:
    """The command was not executed; it is sent again until it is, and its caller never hears of it."""
    reply = f"-{error}\r\n".encode()
    async with scripted(reply, reply) as server, linked(server.url) as link:
        assert await link.call("PING") == b"PONG"
        assert len(server.asked) == 3


async def test_an_error_that_does_not_pass_in_time_is_told() -> None:
    """When the caller's time is over it is told the server's text, not that there was no answer."""
    async with scripted(*[b"-LOADING Redis is loading\r\n"] * 100) as server, linked(server.url, 0.2) as link:
        with pytest.raises(StoreUnavailable, match="LOADING"):
            await link.call("PING")


async def test_an_answer_to_nothing_ends_the_connection() -> None:
    """Whatever came after it would be given to the wrong callers: the link starts anew."""
    async with scripted(b"+one\r\n+nobody asked\r\n") as server, linked(server.url) as link:
        assert await link.call("ECHO", "one") == b"one"

        assert await link.call("PING") == b"PONG"


async def test_a_missing_script_is_told_as_such() -> None:
    """Its caller sends the text instead."""
    async with scripted(b"-NOSCRIPT No matching script.\r\n") as server, linked(server.url) as link:
        with pytest.raises(ScriptMissing):
            await link.call("EVALSHA", "0", 0)


async def test_a_lost_connection_repeats_what_was_not_answered() -> None:
    """In order, and only that."""
    async with scripted(b"+one\r\n", None) as server, linked(server.url) as link:
        replies = await asyncio.gather(*(link.call("ECHO", number) for number in range(3)))

        assert replies == [b"one", b"PONG", b"PONG"]
        assert [command[1] for command in server.asked] == [b"0", b"1", b"1", b"2"]


async def test_a_lost_connection_does_not_repeat_what_nobody_waits_for() -> None:
    """The caller was cancelled meanwhile."""
    async with scripted(None) as server, linked(server.url) as link:
        first = link.send(pack("ECHO", "first"))
        await asyncio.sleep(0)
        first.cancel()

        assert await link.call("ECHO", "second") == b"PONG"
        assert [command[1] for command in server.asked] == [b"first", b"second"]


async def test_a_store_that_says_nothing_fails_in_time_and_is_connected_anew(
    store_server: Server, store_url: str
) -> None:
    """A stopped server: each call fails after its time; when it goes on, so does the link."""
    async with linked(store_url, 0.2) as link:
        store_server.pause()
        try:
            with pytest.raises(StoreUnavailable, match=r"no answer within 0\.2 s"):
                await link.call("PING")
            assert not link.healthy
        finally:
            store_server.resume()

        await until(lambda: _answers(link))
        assert link.healthy


async def test_a_connection_that_stands_still_is_given_up_whatever_was_heard_before() -> None:
    """The answer to the first command comes behind the sending of the second, and then nothing more."""
    async with scripted(b"+one\r\n", b"") as server, linked(server.url, 0.2) as link:
        first = link.send(pack("ECHO", "one"))
        await asyncio.sleep(0)
        second = link.send(pack("ECHO", "two"))

        assert await first == b"one"
        with pytest.raises(StoreUnavailable, match=r"no answer within 0\.2 s"):
            await second
        await until(lambda: link.breaks == 1)
        assert await link.call("PING") == b"PONG"


async def test_a_connection_is_not_silent_while_nothing_is_asked() -> None:
    """Whoever is asked again after a long time has the whole of a call's time to answer."""
    async with scripted(b"+one\r\n", b"+two\r\n") as server, linked(server.url, 0.2) as link:
        assert await link.call("ECHO", "one") == b"one"
        assert link._wire is not None
        link._wire.silent_since -= 60.0

        assert await link.call("ECHO", "two") == b"two"
        assert link.breaks == 0


async def test_a_store_that_is_away_for_long_costs_nothing_for_who_has_given_up(
    store_server: Server, store_url: str
) -> None:
    """Their commands are not kept until it is back, and nothing looks through them meanwhile."""
    async with linked(store_url, 0.2) as link:
        store_server.kill()
        async with asyncio.TaskGroup() as calls:
            for _ in range(100):
                calls.create_task(_answers(link))

        await until(lambda: link._ticking is None)
        assert not link._unsent
        store_server.start()
        await until(lambda: _answers(link))


async def test_an_unreachable_store_is_told_with_its_reason() -> None:
    """Opening fails with the reason of the last attempt."""
    with pytest.raises(StoreUnavailable, match="nowhere"):
        async with linked("unix:///nowhere/at-all.sock", 0.2):
            pass


async def test_closing_fails_who_waits(store_server: Server, store_url: str) -> None:
    """Nobody is left waiting for an answer that will not come."""
    async with linked(store_url) as link:
        store_server.pause()
        try:
            call = link.send(pack("PING"))
            await link.close()
            with pytest.raises(StoreUnavailable, match="closed"):
                await call
        finally:
            store_server.resume()
        with pytest.raises(StoreUnavailable, match="closed"):
            link.send(pack("PING"))


async def _answers(link: Link) -> bool:
    try:
        return await link.call("PING") == b"PONG"
    except StoreUnavailable:
        return False
