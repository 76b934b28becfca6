"""From a URL to a fence: the connections, the clock's difference, the subscription."""

import re
import secrets
from collections.abc import Callable
from typing import Any

from redis.asyncio.connection import AbstractConnection, Connection, parse_url

from gateway.core.clock import Clock
from gateway.core.faults import StoreUnavailable
from gateway.store.budgeted import BudgetedStore
from gateway.store.clock import StoreClock
from gateway.store.fence import FenceStore
from gateway.store.link import Link
from gateway.store.wake import OnWake, Wake

# 48 random bits: no two processes of one store share a name, and a ticket's id stays short.
_GATEWAY_BYTES = 6
_GATEWAY_NAME = re.compile(r"[A-Za-z0-9-]{1,64}")


async def open_store(
    url: str, *, gateway: str | None = None, on_wake: OnWake, timeout_s: float = 2.0, clock: Clock
) -> FenceStore:
    """Connect to a Redis or Valkey: `redis://`, `rediss://` or `unix://PATH?db=0`.

    `gateway` is a name that no other process has or had, of letters, digits and dashes; one is made up if it is
    missing. `on_wake` is told the resource that has changed, or None when wake-ups may have been lost. A call fails
    `timeout_s` seconds after it was made.

    Raises StoreUnavailable, saying which store and why, if it cannot be reached; ValueError for a URL of another kind.
    """
    name = gateway or secrets.token_hex(_GATEWAY_BYTES)
    if not _GATEWAY_NAME.fullmatch(name):
        raise ValueError(f"a gateway's name is 1 to 64 letters, digits and dashes, not {name!r}")
    connect = connector(url, timeout_s)
    link = Link(connect, timeout_s)
    try:
        await link.open()
        store_clock = await _learned(link, clock)
    except StoreUnavailable as away:
        await link.close()
        raise StoreUnavailable(f"the store at {_shown(url)} cannot be used: {away}") from away
    return BudgetedStore(link, Wake(connect, name, on_wake), name, store_clock)


def connector(url: str, timeout_s: float) -> Callable[[], AbstractConnection]:
    """What makes a connection to `url`; ValueError if it is no URL of a store."""
    # redis-py's own types for a URL's parts and a connection's parameters do not meet.
    parameters: dict[str, Any] = dict(parse_url(url))
    kind: type[AbstractConnection] = parameters.pop("connection_class", Connection)
    # RESP2: its replies say all that is needed, and redis-py asks for maintenance notifications only in RESP3.
    defaults = {"socket_timeout": timeout_s, "socket_connect_timeout": timeout_s, "protocol": 2}
    parameters = defaults | parameters

    def connect() -> AbstractConnection:
        return kind(**parameters)

    return connect


async def _learned(link: Link, clock: Clock) -> StoreClock:
    """The store's clock is known before the first ticket is judged by it."""
    store_clock = StoreClock(clock)
    asked = store_clock.read()
    reply = await link.call("TIME")
    assert isinstance(reply, list)
    seconds, micros = reply
    assert isinstance(seconds, bytes)
    assert isinstance(micros, bytes)
    store_clock.learn(int(seconds) * 1000 + int(micros) // 1000, asked, store_clock.read())
    return store_clock


def _shown(url: str) -> str:
    """The URL without a password, which may stand before an `@` or in the query."""
    scheme, _, rest = url.partition("?")[0].partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"
