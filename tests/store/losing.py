"""Gateways that remember what their store acknowledged, and stores that forget it."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from gateway.flow.clock import BootClock
from gateway.ongoing import stop
from gateway.store.connect import open_store
from gateway.store.fence import FenceStore
from gateway.store.loss.incarnation import Incarnation, Places
from tests.store.fences import PATIENCE_S


@dataclass
class Remembering:
    """A gateway's connection, its memory, and why it told of losses."""

    store: FenceStore
    incarnation: Incarnation
    told: list[str] = field(default_factory=list)

    async def mark(self) -> None:
        """One more mark, acknowledged."""
        await self.incarnation.mark(self.store)

    async def mark_no_more(self) -> None:
        """From now on a mark is left only when a test says so: what it misses is no part of the story."""
        assert self.store.marking is not None
        await stop(self.store.marking)


@contextlib.asynccontextmanager
async def remembering(
    url: str,
    name: str | None = None,
    remembered: Places | None = None,
    timeout_s: float = PATIENCE_S,
    patience_s: float = 0.05,
) -> AsyncIterator[Remembering]:
    """It has left its first mark; further ones come once a second, and when a test says so."""
    told: list[str] = []
    incarnation = Incarnation(name, BootClock(), told.append, remembered, patience_s)
    store = await open_store(
        url, on_wake=lambda _: None, timeout_s=timeout_s, clock=BootClock(), incarnation=incarnation
    )
    try:
        await incarnation.mark(store)
        yield Remembering(store, incarnation, told)
    finally:
        await store.close()
