"""Answers that come once what they tell of is safe."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from gateway.core.faults import StoreUnavailable
from gateway.core.pause import Scope
from gateway.core.write import Admitted, ResourceKey
from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.durability import Durability
from gateway.store.durable import Durable, DurableLink
from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys
from gateway.store.links.connection import connector
from gateway.store.links.link import Link, ScriptMissing, pack
from gateway.store.links.url import OneServer, read_url
from gateway.store.pauses import begin_pause, new_pause_id
from gateway.store.script import Script
from tests.store.fences import PATIENCE_S, RESOURCE, TTL_S, admitted, ask, bare, name_of, settled
from tests.store.replicas import Replicated
from tests.store.scripted import Scripted, scripted
from tests.store.server import Server
from tests.store.topology.cluster import ClusterOfNodes
from tests.until import until

DISK = Durability(disk=True)
ONE_REPLICA = Durability(replicas=1)
# A replica that answers later than a store is usually given.
SLOW_S = 2.2
_SAFE = b"*2\r\n:1\r\n:0\r\n"
_KEY = resource_keys(RESOURCE)[0]


@contextlib.asynccontextmanager
async def durable(url: str, durability: Durability = DISK, timeout_s: float = PATIENCE_S) -> AsyncIterator[DurableLink]:
    """The server of one resource."""
    where = read_url(url)
    assert isinstance(where, OneServer)
    servers = Durable(Link(connector(where.options, timeout_s), timeout_s), durability, timeout_s)
    await servers.open(None)
    try:
        yield servers.at(_KEY)
    finally:
        await servers.close()


@contextlib.asynccontextmanager
async def fenced(url: str, durability: Durability, timeout_s: float = PATIENCE_S) -> AsyncIterator[FenceStore]:
    store = await open_store(url, on_wake=lambda _: None, timeout_s=timeout_s, clock=BootClock(), durability=durability)
    try:
        yield store
    finally:
        await store.close()


def told(server: Scripted) -> list[str]:
    """The commands' first words."""
    return [command[0].decode() for command in server.asked]


async def test_calls_of_one_turn_share_one_wait() -> None:
    """Behind them, and behind a write of this connection: calls that write nothing of their own are covered too."""
    async with scripted(b"+a\r\n", b"+b\r\n", b"+OK\r\n", _SAFE) as server, durable(server.url) as link:
        assert await asyncio.gather(link.send(pack("ECHO", "a")), link.send(pack("ECHO", "b"))) == [b"a", b"b"]

        assert told(server) == ["ECHO", "ECHO", "SET", "WAITAOF"]
        assert server.asked[2][1] == _KEY.partition("}")[0].encode() + b"}:safe"


@pytest.mark.parametrize(
    ("durability", "reply", "why"),
    [
        pytest.param(DISK, b"*2\r\n:0\r\n:0\r\n", "the store's disk does not have it yet", id="not flushed in time"),
        pytest.param(ONE_REPLICA, b":0\r\n", "0 of 1 replicas have it", id="too few replicas in time"),
        pytest.param(ONE_REPLICA, b"-UNBLOCKED the instance changed its role\r\n", "UNBLOCKED", id="demoted"),
        pytest.param(DISK, b"-ERR WAITAOF cannot be used\r\n", "WAITAOF cannot be used", id="no append-only file"),
    ],
)
async def test_what_is_not_safe_is_as_if_there_had_been_no_answer(
    durability: Durability, reply: bytes, why: str
) -> None:
    """Whoever acts on an answer does not act on this one; the next call is waited for anew."""
    later = (b"+b\r\n", b"+OK\r\n", _SAFE if durability.disk else b":1\r\n")
    async with scripted(b"+a\r\n", b"+OK\r\n", reply, *later) as server, durable(server.url, durability) as link:
        with pytest.raises(StoreUnavailable, match=why):
            await link.send(pack("ECHO", "a"))

        assert await link.send(pack("ECHO", "b")) == b"b"


async def test_a_wait_without_its_write_proves_nothing() -> None:
    """A full store refuses the write, and answers the wait at once."""
    async with scripted(b"+a\r\n", b"-OOM command not allowed\r\n", _SAFE) as server, durable(server.url) as link:
        with pytest.raises(StoreUnavailable, match="OOM"):
            await link.send(pack("ECHO", "a"))


async def test_a_connection_that_breaks_before_the_wait_is_answered_repeats_both() -> None:
    """The next server may not have what the last one answered."""
    replies = (b"+a\r\n", b"+OK\r\n", None, _SAFE, b"+again\r\n", b"+OK\r\n", _SAFE)
    async with scripted(*replies) as server, durable(server.url) as link:
        assert await link.send(pack("ECHO", "a")) == b"again"

        assert told(server) == ["ECHO", "SET", "WAITAOF", "WAITAOF", "ECHO", "SET", "WAITAOF"]


async def test_a_call_that_was_put_off_is_repeated() -> None:
    """It left again behind the wait, which did not wait for it."""
    replies = (b"-LOADING\r\n", b"+OK\r\n", _SAFE, b"+late\r\n", b"+again\r\n", b"+OK\r\n", _SAFE)
    async with scripted(*replies) as server, durable(server.url) as link:
        assert await link.send(pack("ECHO", "a")) == b"again"

        assert told(server)[-3:] == ["ECHO", "SET", "WAITAOF"]


async def test_an_error_is_told_at_once() -> None:
    """Nothing was recorded that could be lost."""
    async with scripted(b"-NOSCRIPT No matching script.\r\n") as server, durable(server.url) as link:
        with pytest.raises(ScriptMissing):
            await link.send(pack("EVALSHA", "0", 0))


async def test_what_comes_during_a_wait_is_held_back_and_leaves_together(pair: Replicated) -> None:
    """A wait in vain leaves none of them executed behind its caller's back; one wait serves all that came meanwhile."""
    async with durable(pair.url, ONE_REPLICA) as link:
        await link.send(pack("CONFIG", "RESETSTAT"))
        with pair.paused():
            first = asyncio.ensure_future(link.send(pack("SET", "first", "1")))
            await until(lambda: pair.primary.ask("GET", "first") == b"1")
            others = [asyncio.ensure_future(link.send(pack("SET", f"other-{at}", "1"))) for at in range(20)]
            await asyncio.sleep(0)
            held = pair.primary.ask("EXISTS", "other-0")
            answered = first.done()
        await asyncio.gather(first, *others)

    waits = pair.primary.client().info("commandstats")["cmdstat_wait"]["calls"]
    assert (held, answered) == (0, False)
    # The one that reset the counts, the first one's, and one for all the others.
    assert waits == 3


async def test_what_was_held_back_behind_a_slow_replica_is_not_too_late(pair: Replicated) -> None:
    """By the time that its caller waits, and not by what calls usually take."""
    async with fenced(pair.url, ONE_REPLICA) as store:
        await settled(store, await admitted(store, bare(42)), "applied")
        assert store.durable is not None
        link = store.durable.at(_KEY)
        with pair.paused():
            first = asyncio.ensure_future(ask(store, bare(42)))
            await until(lambda: link._is_waiting)
            stop = begin_pause(store, Scope("all"), id=new_pause_id(), reason="a drill", by="operator")
            held = [asyncio.ensure_future(each) for each in (ask(store, bare(43, "B")), stop)]
            await asyncio.sleep(SLOW_S)
        told = await asyncio.gather(first, *held)
    pair.primary.ask("FLUSHALL")

    assert [name_of(each) for each in told] == ["Admitted", "Waiting", "WidePause"]


async def test_callers_that_give_up_do_not_disturb_the_others(pair: Replicated) -> None:
    """Cancelled before the wait, during it, or held back."""
    async with durable(pair.url, ONE_REPLICA) as link:
        with pair.paused():
            calls = [asyncio.ensure_future(link.send(pack("ECHO", str(at)))) for at in range(20)]
            await asyncio.sleep(0)
            held = [asyncio.ensure_future(link.send(pack("ECHO", str(at)))) for at in range(20, 40)]
            await asyncio.sleep(0)
            for call in (*calls[::2], *held[::2]):
                call.cancel()

        answers = await asyncio.gather(*calls[1::2], *held[1::2])

    assert answers == [str(at).encode() for at in (*range(1, 20, 2), *range(21, 40, 2))]


async def test_a_replica_that_is_silent_stops_admissions_and_not_lookups(pair: Replicated) -> None:
    """An admission that no replica has is none, and is abandoned; lookups go on; with the replica, so do admissions."""
    async with fenced(pair.url, ONE_REPLICA) as patient, fenced(pair.url, ONE_REPLICA, 0.4) as hasty:
        await settled(patient, await admitted(patient, bare(4)), "applied")
        ticket = hasty.new_ticket(RESOURCE)
        with pair.paused():
            asking = asyncio.ensure_future(hasty.admit(bare(5), ticket, ttl_s=TTL_S, queued=False, behind=0))
            record = await patient.look(RESOURCE)
            with pytest.raises(StoreUnavailable, match="safe"):
                await asking
            with pytest.raises(StoreUnavailable):
                await hasty.abandon(bare(5), ticket)

        async def is_admitted() -> bool:
            return isinstance(await ask(patient, bare(7)), Admitted)

        await until(is_admitted)

    assert record is not None


async def test_the_disk_has_each_record_of_a_store_that_flushes_always(tmp_path: Path) -> None:
    """Killed at any time, it comes back with all that was answered."""
    server = Server(find_server(), tmp_path, "--save", "", "--appendonly", "yes", "--appendfsync", "always")
    server.start()
    try:
        async with fenced(server.url, DISK) as store:
            first = await ask(store, bare(5))
            server.kill()
            server.start()
            record = await store.look(RESOURCE)
    finally:
        server.kill()

    assert isinstance(first, Admitted)
    assert record is not None
    assert record.epoch == 5


@pytest.mark.slow
async def test_each_node_of_a_cluster_is_waited_for(cluster: ClusterOfNodes) -> None:
    """A wait knows of nothing that another node has."""
    cluster.flush()
    resources = [ResourceKey(f"report/{number}") for number in range(30)]
    for node in cluster.nodes:
        node.ask("CONFIG", "SET", "appendfsync", "always")
        node.ask("CONFIG", "SET", "appendonly", "yes")
        node.ask("CONFIG", "RESETSTAT")
    try:
        async with fenced(cluster.url, DISK) as store:
            writes = [replace(bare(5), resource=resource) for resource in resources]
            replies = await asyncio.gather(*(ask(store, write) for write in writes))
    finally:
        for node in cluster.nodes:
            node.ask("CONFIG", "SET", "appendonly", "no")

    assert all(isinstance(reply, Admitted) for reply in replies)
    assert all("cmdstat_waitaof" in node.client().info("commandstats") for node in cluster.nodes)


def test_each_script_is_one_that_is_waited_for_or_is_not() -> None:
    """Whoever adds one decides whether anything happens outside the store because of its answer."""
    scripts = {path.stem for path in (files("gateway.store") / "scripts").iterdir() if path.name.endswith(".lua")}
    moves_nothing = {"census", "fate", "glance", "look", "peek", "recall", "usage"}
    found_again = {
        *("ask", "claim", "collect", "confirm", "drop", "expire", "fail", "give_back", "hold", "leave", "prune"),
        *("recount", "refuse", "regress", "regress_shard", "report", "resend", "restore_pauses", "seal", "spend"),
        *("sweep", "take"),
    }

    assert {name for name in scripts if Script(name).is_acted_on} == scripts - moves_nothing - found_again


async def test_a_store_without_a_file_is_not_taken_for_a_safe_one(store_url: str) -> None:
    """It says itself that there is nothing to wait for."""
    async with fenced(store_url, DISK) as store:
        with pytest.raises(StoreUnavailable, match="appendonly is disabled"):
            await ask(store, bare(5))
