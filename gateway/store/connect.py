"""From a URL to a fence: the connections, the clock's difference, the subscription."""

import contextlib
import re
import secrets
from functools import partial
from typing import assert_never

from gateway.core.clock import Clock
from gateway.core.faults import StoreUnavailable
from gateway.ongoing import ongoing
from gateway.store.answer import milliseconds
from gateway.store.budgeted import BudgetedStore
from gateway.store.clock import StoreClock
from gateway.store.durability import PROCESS, Durability
from gateway.store.durable import Durable
from gateway.store.fence import FenceStore
from gateway.store.links.cluster import Cluster
from gateway.store.links.connection import connector
from gateway.store.links.link import Connect, Link, Reply
from gateway.store.links.sentinel import GuardedLink, Sentinels
from gateway.store.links.topology import Topology
from gateway.store.links.url import Guarded, OneServer, Sharded, read_url
from gateway.store.loss.incarnation import Incarnation
from gateway.store.wake import OnWake, Wake

# 48 random bits: no two processes of one store share a name, and a ticket's id stays short.
_GATEWAY_BYTES = 6
_GATEWAY_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")


async def open_store(
    url: str,
    *,
    gateway: str | None = None,
    on_wake: OnWake,
    timeout_s: float = 2.0,
    clock: Clock,
    incarnation: Incarnation | None = None,
    durability: Durability = PROCESS,
) -> FenceStore:
    """Connect to a Redis or Valkey, as the URL says (links/url.py).

    `gateway` is a name that no other process has or had, of letters, digits and dashes; one is made up if it is
    missing. `on_wake` is told the resource that has changed, or None when wake-ups may have been lost. A call fails
    `timeout_s` seconds after it was made. `incarnation`: what looks at each connection whether the store still has what
    it acknowledged, and marks there what that is. `durability`: how safe a record is before its script's answer comes.

    Raises StoreUnavailable, saying which store and why, if it cannot be reached; ValueError for a URL of another kind.
    """
    name = _named(gateway)
    link, connect = _topology(url, timeout_s)
    durable = None if durability == PROCESS else Durable(_topology(url, timeout_s)[0], durability, timeout_s)
    link.on_connected = None if incarnation is None else incarnation.check
    try:
        store_clock = await _opened(link, durable, clock)
    except StoreUnavailable as away:
        raise StoreUnavailable(f"the store at {_shown(url)} cannot be used: {away}") from away
    store = BudgetedStore(link, Wake(connect, name, on_wake), name, store_clock)
    store.durable, store.answers_within_s = durable, timeout_s
    if incarnation is not None:
        store.expect(incarnation.recent)
        incarnation.lasting, incarnation.furthest_ms = store.lasting, store_clock.furthest_ms
        store.marking = ongoing("leaving marks", partial(incarnation.run, store), incarnation.failed)
    return store


def _named(gateway: str | None) -> str:
    name = gateway or secrets.token_hex(_GATEWAY_BYTES)
    if not _GATEWAY_NAME.fullmatch(name):
        raise ValueError(f"a gateway's name is 1 to 64 letters, digits and dashes, not {name!r}")
    return name


def _topology(url: str, timeout_s: float) -> tuple[Topology, Connect]:
    """The store's servers, and what makes a connection to one at which everything that is published can be heard."""
    match read_url(url):
        case OneServer(options):
            connect = connector(options, timeout_s)
            return Link(connect, timeout_s), connect
        case Guarded() as guarded:
            sentinels = Sentinels(guarded, timeout_s)
            return GuardedLink(sentinels, timeout_s), sentinels.connect
        case Sharded() as sharded:
            cluster = Cluster(sharded, timeout_s)
            return cluster, cluster.connect
        case unreachable:
            assert_never(unreachable)


async def _opened(link: Topology, durable: Durable | None, clock: Clock) -> StoreClock:
    """Connect. Whoever fails, or is cancelled meanwhile, leaves no connection open."""
    try:
        await link.open()
        if durable is not None:
            await durable.open(link.on_connected)
        return await _learned(link, clock)
    except BaseException:
        await link.close()
        if durable is not None:
            await durable.close()
        raise


async def _learned(link: Topology, clock: Clock) -> StoreClock:
    """The store's clock is known before the first ticket is judged by it. Any server's will do: the slowest counts."""
    store_clock = StoreClock(clock)
    asked, now_ms = store_clock.read(), milliseconds(await _time(link))
    store_clock.learn(now_ms, asked, store_clock.read())
    return store_clock


async def _time(link: Topology) -> Reply:
    *others, last = link.servers
    for server in others:
        with contextlib.suppress(StoreUnavailable):
            return await server.call("TIME")
    return await last.call("TIME")


def _shown(url: str) -> str:
    """The URL without a password, which may stand before an `@` or in the query."""
    scheme, _, rest = url.partition("?")[0].partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
