"""A subscription that is kept up: what is published is heard, also after its connection was lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from gateway.store.links.connection import connector
from gateway.store.links.subscription import Subscription
from gateway.store.links.url import OneServer, read_url
from tests.store.fences import PATIENCE_S


@dataclass
class Listener:
    """What it was told so far."""

    messages: asyncio.Queue[tuple[bytes, bytes]] = field(default_factory=asyncio.Queue)
    subscribed: asyncio.Queue[None] = field(default_factory=asyncio.Queue)


@asynccontextmanager
async def listening(url: str, *channels: str) -> AsyncIterator[Listener]:
    """Within the block."""
    one = read_url(url)
    assert isinstance(one, OneServer)
    listener = Listener()
    subscription = Subscription(
        connector(one.options, PATIENCE_S),
        channels,
        lambda *heard: listener.messages.put_nowait(heard),
        lambda: listener.subscribed.put_nowait(None),
    )
    try:
        yield listener
    finally:
        await subscription.close()


async def test_what_is_published_is_heard(store_url: str, raw: Any) -> None:
    """On each channel, in the order in which it was published; no other channel's."""
    async with listening(store_url, "one", "other") as listener:
        await listener.subscribed.get()
        for channel, message in (("one", "a"), ("elsewhere", "b"), ("other", "c")):
            raw.publish(channel, message)

        assert [await listener.messages.get() for _ in range(2)] == [(b"one", b"a"), (b"other", b"c")]


async def test_it_connects_again_and_says_so(store_url: str, raw: Any) -> None:
    """What was published meanwhile may have been missed; once for all channels."""
    async with listening(store_url, "one", "other") as listener:
        await listener.subscribed.get()
        raw.client_kill_filter(_type="pubsub")
        await listener.subscribed.get()
        raw.publish("one", "again")

        assert await listener.messages.get() == (b"one", b"again")
        assert listener.subscribed.empty()


async def test_nothing_is_heard_once_it_is_closed(store_url: str, raw: Any) -> None:
    """Its connection is gone from the server."""
    async with listening(store_url, "one") as listener:
        await listener.subscribed.get()

    assert raw.publish("one", "late") == 0
