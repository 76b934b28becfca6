"""A subscription that is kept up: what is published is heard, also after its connection was lost."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from gateway.store.links.connection import connector
from gateway.store.links.subscription import Subscription
from gateway.store.links.url import OneServer, read_url
from tests.store.fences import PATIENCE_S
from tests.until import until


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


async def test_who_may_not_subscribe_seldom_tries(store_url: str, raw: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each try is a line of the server's log of refusals. Once it may, it listens."""
    monkeypatch.setattr("gateway.store.links.subscription._PAUSE_S", 3600.0)
    monkeypatch.setattr("gateway.store.links.subscription._FORBIDDEN_PAUSE_S", 0.05)
    raw.execute_command("ACL", "SETUSER", "deaf", "reset", "on", ">word", "+@all", "-subscribe", "allchannels")
    raw.execute_command("ACL", "LOG", "RESET")
    try:
        async with listening(store_url.replace("unix://", "unix://deaf:word@"), "one") as listener:
            await until(lambda: bool(raw.execute_command("ACL", "LOG")))
            assert listener.subscribed.empty()
            raw.execute_command("ACL", "SETUSER", "deaf", "+subscribe")

            async with asyncio.timeout(PATIENCE_S):
                await listener.subscribed.get()
    finally:
        raw.execute_command("ACL", "DELUSER", "deaf")
