"""Servers that die, stop and come back as replicas, and slots that move while writes run: nobody has to do anything."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from gateway.core.write import ResourceKey, TicketId
from gateway.store.fence import FenceStore
from gateway.store.keys import SWEEPER, resource_keys, shard_of
from gateway.store.links.slots import slot_of
from gateway.store.sweep import take_turn
from tests.store.fences import admitted, bare, opened
from tests.store.load import WRITERS, Load, load, patient_load
from tests.store.topology.cluster import ClusterOfNodes, id_of, start_cluster
from tests.store.topology.guarded import GuardedServers, start_guarded
from tests.store.topology.node import Node
from tests.until import until

pytestmark = pytest.mark.slow

# What a gateway waits for its store.
_CALL_S = 2.0
# Sentinels let a primary that comes back alone for a while, and longer on a machine that others keep busy.
_DEMOTED_WITHIN_S = 90.0
# Beyond the failover itself, which is the servers' own matter.
_RECOVERS_WITHIN_S = 5.0


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[GuardedServers]:
    guarded = start_guarded(tmp_path / "guarded")
    yield guarded
    guarded.stop()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ClusterOfNodes]:
    """Each primary has a replica."""
    cluster = start_cluster(tmp_path / "cluster", 3, 3)
    yield cluster
    cluster.stop()


def is_replica(server: Node) -> bool:
    """Whoever is demoted hangs up."""
    with contextlib.suppress(redis.ConnectionError):
        return b"role:slave" in server.ask("INFO", "replication")
    return False


def names_of(store: FenceStore) -> set[str]:
    return {server.name for server in store.link.servers}


async def goes_on(so_far: Load) -> None:
    """Every writer writes again."""
    before = dict(so_far.applied)
    await until(lambda: all(so_far.applied[number] > before[number] for number in range(WRITERS)), within_s=60.0)


async def seconds_until_it_goes_on(so_far: Load) -> float:
    loop = asyncio.get_running_loop()
    begun = loop.time()
    await goes_on(so_far)
    return loop.time() - begun


async def test_a_primary_behind_sentinels_dies(guarded: GuardedServers) -> None:
    """Its replica is promoted, and written to within five seconds of that; the dead one comes back as a replica."""
    first = guarded.primary()
    async with opened(guarded.url, timeout_s=_CALL_S) as store, patient_load(store) as so_far:
        await goes_on(so_far)
        first.stop()
        await guarded.promoted(first)
        recovery_s = await seconds_until_it_goes_on(so_far)
        first.start()
        await until(lambda: is_replica(first), within_s=_DEMOTED_WITHIN_S)
        await goes_on(so_far)

    print(f"recovered {recovery_s:.2f} s after the promotion; {so_far.refused} of {so_far.total} failed")
    assert recovery_s < _RECOVERS_WITHIN_S


async def test_a_primary_behind_sentinels_stops(guarded: GuardedServers) -> None:
    """As a machine that is suspended: it closes no connection, and wakes up as a primary that is none any more."""
    first = guarded.primary()
    async with opened(guarded.url, timeout_s=_CALL_S) as store, patient_load(store) as so_far:
        await goes_on(so_far)
        os.kill(first.pid, signal.SIGSTOP)
        await guarded.promoted(first)
        recovery_s = await seconds_until_it_goes_on(so_far)
        os.kill(first.pid, signal.SIGCONT)
        await until(lambda: is_replica(first), within_s=_DEMOTED_WITHIN_S)
        await goes_on(so_far)

    print(f"recovered {recovery_s:.2f} s after the promotion; {so_far.refused} of {so_far.total} failed")
    assert recovery_s < _RECOVERS_WITHIN_S


async def test_an_operator_fails_over(guarded: GuardedServers) -> None:
    """The old primary is demoted while it is written to, and answers READONLY from then on."""
    async with opened(guarded.url, timeout_s=_CALL_S) as store, patient_load(store) as so_far:
        for _ in range(2):
            first = guarded.primary()
            await goes_on(so_far)
            await until(guarded.fails_over)
            await guarded.promoted(first)
            recovery_s = await seconds_until_it_goes_on(so_far)
            assert recovery_s < _RECOVERS_WITHIN_S


async def test_a_clusters_primary_dies(cluster: ClusterOfNodes) -> None:
    """Its replica takes its slots, and the resources there are written again; those of other nodes are all the time."""
    first = cluster.primaries[0]
    async with opened(cluster.url, timeout_s=_CALL_S) as store, patient_load(store) as so_far:
        await goes_on(so_far)
        first.stop()
        await until(lambda: b"role:master" in cluster.replicas[0].ask("INFO", "replication"))
        recovery_s = await seconds_until_it_goes_on(so_far)
        first.start()
        await until(lambda: is_replica(first), within_s=_DEMOTED_WITHIN_S)
        await goes_on(so_far)
        assert store.healthy

    print(f"recovered {recovery_s:.2f} s after the promotion; {so_far.refused} of {so_far.total} failed")
    assert recovery_s < _RECOVERS_WITHIN_S


async def test_a_clusters_primary_hands_over(cluster: ClusterOfNodes) -> None:
    """A failover that was asked for loses nothing: no write fails, and each finds what the one before it left."""
    async with opened(cluster.url, timeout_s=10.0) as store, load(store) as so_far:
        for old, new in zip(cluster.primaries, cluster.replicas, strict=True):
            new.ask("CLUSTER", "FAILOVER")
            await until(lambda old=old: is_replica(old))
            await goes_on(so_far)


async def test_slots_move_to_a_new_node_and_back(cluster: ClusterOfNodes, tmp_path: Path) -> None:
    """While writes run: none fails, and each finds what the one before it left; the node leaves again."""
    source, new = cluster.primaries[0], cluster.joined(tmp_path / "new")
    slots = sorted({slot_of(f"fg:{{{shard_of(ResourceKey(f'report/{number}'))}}}:") for number in range(WRITERS)})
    moving = [slot for slot in slots if cluster.owner_of(slot) is source]
    try:
        async with opened(cluster.url, timeout_s=10.0) as store, load(store) as so_far:
            for begin, end in ((source, new), (new, source)):
                for slot in moving:
                    await asyncio.to_thread(cluster.move, slot, begin, end)
                await goes_on(so_far)
                await until(lambda end=end: (new.address in names_of(store)) == (end is new))
            new.stop()
            await goes_on(so_far)
            assert names_of(store) == {node.address for node in cluster.primaries} and store.healthy
    finally:
        new.stop()
    assert moving


async def test_many_slots_move_at_once(cluster: ClusterOfNodes) -> None:
    """As Valkey 9 moves them: no write fails, and each finds what the one before it left."""
    one, two, _ = cluster.primaries
    # But for some, without which it would become a replica.
    first, last = 0, 5_000
    async with opened(cluster.url, timeout_s=10.0) as store, load(store) as so_far:
        for source, target in ((one, two), (two, one)):
            source.ask("CLUSTER", "MIGRATESLOTS", "SLOTSRANGE", first, last, "NODE", id_of(target))
            await until(lambda target=target: cluster.owner_of(first) is target)
            await goes_on(so_far)


async def test_one_node_that_is_away_keeps_no_other_from_being_swept(tmp_path: Path) -> None:
    """Nor the one that says whose turn it is."""
    cluster = start_cluster(tmp_path / "cluster", 3, options=("--cluster-require-full-coverage", "no"))
    try:
        async with opened(cluster.url, timeout_s=1.0) as store:
            tickets = {}
            for number in range(30):
                write = replace(bare(42), resource=ResourceKey(f"report/{number}"))
                one = await admitted(store, write, ttl_s=0.1)
                tickets[one.ticket] = cluster.owner(resource_keys(write.resource)[0])
            away = cluster.owner(SWEEPER)
            away.stop()
            left = {ticket for ticket, node in tickets.items() if node is not away}

            await until(lambda: _are_due(store, left))
    finally:
        cluster.stop()
    assert 0 < len(left) < len(tickets)


async def _are_due(store: FenceStore, tickets: set[TicketId]) -> bool:
    due = await take_turn(store)
    return due is not None and tickets <= {ticket for ticket, _ in due.tickets}
