"""A primary behind sentinels: who is believed, and how a link leaves one that is none any more."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from gateway.store.fence import FenceStore
from gateway.store.keys import probe
from gateway.store.links.link import hang_up
from gateway.store.links.sentinel import GuardedLink, Sentinels
from gateway.store.links.topology_doctor import examine_topology
from gateway.store.links.url import Guarded, read_url
from tests.store.fences import PATIENCE_S, admitted, bare, opened
from tests.store.scripted import Scripted, scripted
from tests.store.topology.guarded import SERVICE, GuardedServers, start_guarded
from tests.store.topology.node import Node
from tests.until import until

_NOWHERE = "127.0.0.1:1"
# Nobody here waits so long for an answer.
_LONG_S = 60.0


def told(port: int, epoch: int, flags: str = "master") -> tuple[bytes, bytes]:
    """A sentinel's two answers to one look."""
    fields = ("ip", "127.0.0.1", "port", str(port), "flags", flags, "config-epoch", str(epoch))
    return _array(*fields), _array("127.0.0.1", str(port))


def _array(*words: str) -> bytes:
    return f"*{len(words)}\r\n".encode() + b"".join(f"${len(word)}\r\n{word}\r\n".encode() for word in words)


def host_of(sentinel: Scripted) -> str:
    return sentinel.url.removeprefix("redis://")


async def connect(url: str) -> None:
    """To the primary, once."""
    where = read_url(url)
    assert isinstance(where, Guarded)
    sentinels = Sentinels(where, PATIENCE_S)
    try:
        await hang_up(await sentinels.connect())
    finally:
        await sentinels.close()


async def test_the_primary_is_found(guarded: GuardedServers) -> None:
    """Sentinels that are away are passed over."""
    url = guarded.url.replace("redis+sentinel://", f"redis+sentinel://{_NOWHERE},")
    async with opened(url) as store:
        assert (await admitted(store, bare(42))).write.epoch == 42
        assert store.healthy
    guarded.servers[0].ask("FLUSHALL")


async def test_what_a_user_may_not_hear_is_found_out(guarded: GuardedServers) -> None:
    """Where it may, nothing is said; nor of a sentinel that is away."""
    (sentinel,) = guarded.sentinels
    sentinel.ask("ACL", "SETUSER", "deaf", "reset", "on", ">word", "+@all", "-subscribe", "allchannels")
    deaf = "?sentinel_username=deaf&sentinel_password=word"
    for user, saw in (("", "heard"), (deaf, f"{sentinel.address} may not be subscribed to")):
        url = guarded.url.replace("redis+sentinel://", f"redis+sentinel://{_NOWHERE},")
        async with opened(url + user) as store:
            (check,) = [one for one in await examine_topology(store.link) if one.name == "announcements"]

        assert check.saw.startswith(saw)


async def test_the_newest_configuration_is_believed(guarded: GuardedServers) -> None:
    """A sentinel that was cut off together with an old primary still names that one."""
    port = guarded.servers[0].port
    async with (
        scripted(*told(1, 6) * 9) as old,
        scripted(*told(port, 7) * 9) as new,
        opened(f"redis+sentinel://{host_of(old)},{host_of(new)}/{SERVICE}") as store,
    ):
        await store.ping()


async def test_a_primary_that_is_away_by_common_consent_is_not_written_to(guarded: GuardedServers) -> None:
    """Though it answers here: the next one may be at work already."""
    async with scripted(*told(guarded.servers[0].port, 7, "master,s_down,o_down")) as sentinel:
        with pytest.raises(ConnectionError, match="wait for a new primary"):
            await connect(f"redis+sentinel://{host_of(sentinel)}/{SERVICE}")


async def test_a_primary_whose_successor_is_being_promoted_is_not_written_to(guarded: GuardedServers) -> None:
    """Though it is well, and only the sentinel that leads the failover knows of it: what the old primary took from now
    on would be lost."""
    port = guarded.servers[0].port
    async with (
        scripted(*told(port, 7, "master,failover_in_progress")) as leader,
        scripted(*told(port, 7)) as other,
    ):
        with pytest.raises(ConnectionError, match="are promoting another primary"):
            await connect(f"redis+sentinel://{host_of(leader)},{host_of(other)}/{SERVICE}")


async def test_a_replica_is_not_taken_for_the_primary() -> None:
    """It is named a moment before it is one."""
    async with scripted(_array("slave", "127.0.0.1", "1", "connected", "0")) as replica:
        port = int(replica.url.rpartition(":")[2])
        async with scripted(*told(port, 7)) as sentinel:
            with pytest.raises(ConnectionError, match="is none yet"):
                await connect(f"redis+sentinel://{host_of(sentinel)}/{SERVICE}")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis+sentinel://{sentinel}/another", "No such master"),
        (f"redis+sentinel://{_NOWHERE}/{SERVICE}", _NOWHERE),
    ],
    ids=["a service that nobody knows", "sentinels that are away"],
)
async def test_sentinels_that_name_no_primary_are_told_with_the_reason(
    guarded: GuardedServers, url: str, reason: str
) -> None:
    """In the words of the last one that was asked."""
    with pytest.raises(ConnectionError, match=reason):
        await connect(url.format(sentinel=guarded.sentinels[0].address))


async def test_a_link_leaves_a_primary_that_was_replaced(tmp_path: Path, guarded: GuardedServers) -> None:
    """Though it still answers and takes writes."""
    own = start_guarded(tmp_path / "own", 0, 1)
    try:
        async with opened(own.url) as store:
            await admitted(store, bare(42))
            sentinel, other = own.sentinels[0], guarded.servers[0]
            sentinel.ask("SENTINEL", "REMOVE", SERVICE)
            sentinel.ask("SENTINEL", "MONITOR", SERVICE, "127.0.0.1", other.port, 1)

            await until(lambda: _writes_at(store, other))
            assert own.servers[0].ask("DBSIZE") > 0
    finally:
        own.stop()
        guarded.servers[0].ask("FLUSHALL")


async def test_a_link_leaves_a_primary_while_its_successor_is_being_promoted(guarded: GuardedServers) -> None:
    """It is back as soon as that is over, also where it came to nothing."""
    port = guarded.servers[0].port
    promoting, over = told(port, 7, "master,failover_in_progress"), told(port, 7)
    async with (
        # The link and the subscription to wake-ups connect, each after a look.
        scripted(*over * 2, *promoting * 3, *over * 9) as sentinel,
        opened(f"redis+sentinel://{host_of(sentinel)}/{SERVICE}") as store,
    ):
        await until(lambda: not store.healthy)
        await store.ping()
        assert len(sentinel.asked) > 2 * (2 + 3)


async def test_a_link_does_not_wait_for_a_primary_that_was_replaced_meanwhile(guarded: GuardedServers) -> None:
    """One that is stopped takes connections, and when it goes on it answers as a primary: what it acknowledged then
    would be lost."""
    gone = asyncio.Event()

    async def stopped(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.closing(writer):
            while await reader.read(65536):
                pass
        gone.set()

    async with await asyncio.start_server(stopped, "127.0.0.1", 0) as server:
        stopped_port, port = server.sockets[0].getsockname()[1], guarded.servers[0].port
        async with scripted(*told(stopped_port, 7), *told(port, 8) * 9) as sentinel:
            where = read_url(f"redis+sentinel://{host_of(sentinel)}/{SERVICE}")
            assert isinstance(where, Guarded)
            link = GuardedLink(Sentinels(where, _LONG_S), _LONG_S)
            await link.open()
            try:
                assert gone.is_set()
                assert await link.call("PING") == b"PONG"
            finally:
                await link.close()


async def _writes_at(store: FenceStore, server: Node) -> bool:
    await store.ping()
    return server.ask("GET", probe("000")) is not None
