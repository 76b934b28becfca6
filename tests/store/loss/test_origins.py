"""A store that was emptied under living connections is known by what its shards began with, before a mark is missed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
import redis
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ResponseError

from gateway.core.epoch import Epoch
from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from gateway.store.keys import origin, resource_keys, shard_of, shards
from gateway.store.links.connection import connector
from gateway.store.links.link import hang_up
from gateway.store.links.url import OneServer, read_url
from gateway.store.loss import losses
from gateway.store.loss.origins import learn, learn_here
from gateway.store.loss.recent import Recent
from tests.store.fences import (
    LEASE_MS,
    OTHER_SECRET,
    RESOURCE,
    ask,
    bare,
    ended,
    granted,
    keyed,
    leased,
    name_of,
    opened,
)
from tests.store.losing import Remembering, remembering
from tests.store.server import Server
from tests.until import until

SHARD = shard_of(RESOURCE)


def stop_marking(one: Remembering) -> None:
    assert one.store.marking is not None
    one.store.marking.cancel()


def go_on_marking(one: Remembering) -> None:
    one.store.marking = asyncio.get_running_loop().create_task(one.incarnation.run(one.store))


@pytest.fixture
async def another(store_url: str) -> AsyncIterator[Remembering]:
    """A worker that never sees the resource, and would not miss a mark for a second."""
    async with remembering(store_url) as two:
        stop_marking(two)
        yield two


async def a_forgotten_key(store: FenceStore) -> str:
    return name_of(await ask(store, keyed(bare(42))))


async def a_write(store: FenceStore) -> str:
    return name_of(await ask(store, bare(43)))


async def a_former_token(store: FenceStore) -> str:
    return name_of(await ask(store, leased(7)))


async def a_look(store: FenceStore) -> str:
    return name_of(await store.peek(bare(42)))


async def a_lease(store: FenceStore) -> str:
    return name_of(await store.grant(RESOURCE, "B", OTHER_SECRET, ttl_ms=LEASE_MS, takeover=False, watch=False))


async def an_epoch_from_elsewhere(store: FenceStore) -> str:
    return name_of(await store.register(RESOURCE, Epoch(42), "A", watch=False))


ASKING = (a_forgotten_key, a_write, a_former_token, a_look, a_lease, an_epoch_from_elsewhere)


@pytest.mark.parametrize("asked", ASKING, ids=lambda asked: asked.__name__)
async def test_a_worker_that_never_saw_the_resource_lets_nobody_in(
    asked: Callable[[FenceStore], Awaitable[str]], store: FenceStore, another: Remembering, raw: Any
) -> None:
    """It cannot miss an epoch: the shard itself is another one. Nothing is written there by the asking."""
    await ended(store, keyed(bare(42)), "applied")
    raw.flushall()

    assert await asked(another.store) == "store-regressed"
    assert raw.keys() == []


async def test_a_store_that_somebody_began_anew_is_another_one(
    store: FenceStore, store_url: str, another: Remembering, raw: Any
) -> None:
    """A gateway that starts on the emptied store knows of nothing, and leaves there what it is known by."""
    await ended(store, keyed(bare(42)), "applied")
    raw.flushall()
    async with remembering(store_url):
        assert await a_forgotten_key(another.store) == "store-regressed"


async def test_one_refusal_makes_the_loss_known(store: FenceStore, another: Remembering, raw: Any) -> None:
    """Its worker marks at once; then everybody is told, new leases are granted, and keys wait for an operator."""
    await ended(store, keyed(bare(42)), "applied")
    raw.flushall()
    await a_forgotten_key(another.store)
    go_on_marking(another)
    await until(lambda: bool(another.told))

    assert (await losses.states(store))[0].is_regressed
    await granted(another.store)
    assert await a_forgotten_key(another.store) == "store-regressed"
    await losses.accept(another.store, note="looked", by="operator")
    assert await a_forgotten_key(another.store) == "stale-epoch"


@pytest.mark.parametrize("left", ["nothing", "another's"])
async def test_a_shard_that_was_emptied_alone_is_a_loss_of_the_store(
    left: str, store: FenceStore, another: Remembering, raw: Any
) -> None:
    """Its server has all marks: only the shard tells, and a loss that is told can be accepted."""
    await ended(store, keyed(bare(42)), "applied")
    raw.delete(origin(SHARD), *(key for key in raw.keys(f"fg:{{{SHARD}}}:*")))
    if left != "nothing":
        raw.set(origin(SHARD), left)
    assert await a_forgotten_key(another.store) == "store-regressed"

    await another.mark()
    await until(lambda: bool(another.told))

    assert another.told == ["1 of 1024 shards have been emptied under it"]
    assert await losses.accept(another.store, note="looked", by="operator") == 0
    # For as long as what was forgotten may be in flight.
    assert await a_forgotten_key(another.store) == "Waiting"


async def test_the_others_of_the_store_learn_it_anew(store_url: str, another: Remembering, raw: Any) -> None:
    """Once they are told, and also where the loss was accepted before they heard of it."""
    async with remembering(store_url) as finds:
        raw.flushall()
        await finds.mark()
        await until(lambda: bool(finds.told))
        await losses.accept(finds.store, note="looked", by="operator")
    assert await a_write(another.store) == "store-regressed"

    await another.mark()
    await another.store.look(RESOURCE)

    assert another.incarnation.recent.origins[SHARD] == raw.get(origin(SHARD)).decode()
    assert await a_write(another.store) == "Waiting"
    assert another.told == []


async def test_a_store_of_former_gateways_gets_its_origins_and_goes_on(store_url: str, raw: Any) -> None:
    """They wrote none, and write none: nothing is missed that was never there."""
    async with opened(store_url) as former:
        await ended(former, keyed(bare(42)), "applied")
        async with remembering(store_url) as one:
            assert await a_forgotten_key(one.store) == "Replayed"
            assert await a_forgotten_key(former) == "Replayed"
            assert raw.ttl(origin(SHARD)) == -1


async def test_gateways_agree_on_what_was_there_first(store: FenceStore) -> None:
    """Each shard has one origin, whoever left it; what one has learned is not asked for again."""
    one, two = Recent(), Recent()

    assert await asyncio.gather(learn(store.link, one), learn(store.link, two)) == [True, True]

    assert one.origins == two.origins
    assert list(one.origins) == shards()
    assert not await learn(store.link, one)


async def test_a_worker_that_has_not_learned_yet_is_served(store: FenceStore, raw: Any) -> None:
    """It has just begun, and has acknowledged nothing that could be missing."""
    assert await a_write(store) == "Admitted"
    assert raw.get(origin(SHARD)) is None


@pytest.mark.parametrize("asked", ASKING, ids=lambda asked: asked.__name__)
async def test_a_shard_is_known_before_its_first_decision(
    asked: Callable[[FenceStore], Awaitable[str]], another: Remembering, raw: Any
) -> None:
    """Also to a worker that began while its server was away: from then on it misses what the shard forgets."""
    another.incarnation.recent.origins.clear()
    await asked(another.store)

    assert another.incarnation.recent.origins == {SHARD: raw.get(origin(SHARD)).decode()}


async def connection_to(url: str) -> AbstractConnection:
    one = read_url(url)
    assert isinstance(one, OneServer)
    return await connector(one.options, 5.0)()


async def test_a_server_that_comes_late_is_learned_whole(store_url: str, another: Remembering) -> None:
    """Over its first connection; what was known of it stays as it was."""
    recent = Recent()
    recent.origins[SHARD] = "mine"
    connection = await connection_to(store_url)
    try:
        await learn_here(connection, recent, [SHARD])
    finally:
        await hang_up(connection)

    assert recent.origins == another.incarnation.recent.origins | {SHARD: "mine"}


@pytest.mark.parametrize(("says", "is_refused"), [("full", False), ("replica", True)])
async def test_a_server_that_takes_no_writes_yet_is_not_connected_to(
    says: str, is_refused: bool, tmp_path: Path
) -> None:
    """Nobody can tell of a loss there. One without room for them goes on taking lookups, and is learned later."""
    server = Server(find_server(), tmp_path)
    server.start()
    with redis.Redis.from_url(server.url) as client:
        if says == "full":
            client.config_set("maxmemory", 1)
        else:
            client.replicaof("127.0.0.1", "1")
    connection = await connection_to(server.url)
    recent = Recent()
    try:
        with pytest.raises(ResponseError) if is_refused else contextlib.nullcontext():
            await learn_here(connection, recent, [SHARD])
    finally:
        await hang_up(connection)
        server.kill()

    assert recent.origins == {}


async def test_an_origin_of_another_kind_stops_everything(another: Remembering, raw: Any) -> None:
    """What cannot be read is no sign that nothing was lost."""
    raw.delete(origin(SHARD))
    raw.lpush(origin(SHARD), "x")

    with pytest.raises(Exception, match="WRONGTYPE"):
        await a_write(another.store)
    assert raw.hgetall(resource_keys(RESOURCE)[0]) == {}
