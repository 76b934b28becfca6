"""Agents that write all the time: each finds its own revision, whatever the store goes through meanwhile."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from gateway.core.faults import StoreUnavailable
from gateway.core.write import Admitted, ResourceKey, Waiting, Write
from gateway.store.fence import FenceStore
from tests.store.fences import ask, bare, rule

WRITERS = 16
# A write whose end was lost holds its resource so long.
_TTL_S = 1.0
_LOOK_AGAIN_S = 0.05


@dataclass
class Load:
    """What has become of the writes so far, by writer."""

    applied: dict[int, int] = field(default_factory=dict)
    refused: int = 0

    @property
    def total(self) -> int:
        return sum(self.applied.values())


# What one agent does over and over: its number says which.
_OneWrite = Callable[[FenceStore, int, Load], Awaitable[None]]


@contextlib.asynccontextmanager
async def load(store: FenceStore) -> AsyncIterator[Load]:
    """Writes go on within the block; each must find its own revision, and none may fail."""
    async with _writing(store, _write_exactly) as so_far:
        yield so_far


@contextlib.asynccontextmanager
async def patient_load(store: FenceStore) -> AsyncIterator[Load]:
    """Writes go on within the block; one that fails is followed by the next, and what was acknowledged may be lost."""
    async with _writing(store, _write_if_it_can) as so_far:
        yield so_far


@contextlib.asynccontextmanager
async def _writing(store: FenceStore, write: _OneWrite) -> AsyncIterator[Load]:
    stop, so_far = asyncio.Event(), Load(dict.fromkeys(range(WRITERS), 0))

    async def write_on(number: int) -> None:
        while not stop.is_set():
            await write(store, number, so_far)

    tasks = [asyncio.ensure_future(write_on(number)) for number in range(WRITERS)]
    try:
        yield so_far
    finally:
        stop.set()
        await asyncio.gather(*tasks)
    assert min(so_far.applied.values()) > 0


def _of(number: int) -> Write:
    return Write(rule(counts=True), ResourceKey(f"report/{number}"), bare(42).epoch, "A", None)


async def _write_exactly(store: FenceStore, number: int, so_far: Load) -> None:
    reply = await ask(store, _of(number))
    if isinstance(reply, Waiting):
        return
    assert isinstance(reply, Admitted), reply
    assert reply.revision == so_far.applied[number]
    settled = await store.settle(reply, "applied", "answered 200", None)
    so_far.applied[number] += 1
    assert settled.revision == so_far.applied[number]


async def _write_if_it_can(store: FenceStore, number: int, so_far: Load) -> None:
    write = _of(number)
    ticket = store.new_ticket(write.resource)
    try:
        reply = await store.admit(write, ticket, ttl_s=_TTL_S, queued=False, behind=0)
        while isinstance(reply, Waiting):
            await asyncio.sleep(_LOOK_AGAIN_S)
            reply = await store.admit(write, ticket, ttl_s=_TTL_S, queued=True, behind=0)
        assert isinstance(reply, Admitted), reply
        await store.settle(reply, "applied", "answered 200", None)
        so_far.applied[number] += 1
    except StoreUnavailable:
        so_far.refused += 1
        with contextlib.suppress(StoreUnavailable):
            await store.abandon(write, ticket)
