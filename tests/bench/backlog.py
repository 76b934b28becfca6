"""A queue as it is when the upstream was away for long: so many writes are taken, and nobody delivers them."""

import asyncio
from collections.abc import Iterator

from gateway.core.caller import DEFAULT_TENANT
from gateway.core.epoch import Epoch
from gateway.core.intent import Intent
from gateway.core.kept_request import KeptRequest
from gateway.core.record import IntentRecord
from gateway.core.rule import Rule
from gateway.core.write import ResourceKey, Write
from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.fence import FenceStore
from gateway.store.keys import in_state, shards
from tests.bench.connection import BODY
from tests.bench.process import Failed
from tests.bench.store import Store

# As many as a worker may have under way; more would only wait in line here.
_AT_ONCE = 64
_EPOCH = Epoch(7)
_HOLDER = "agent-a"
_DIGEST_CHARACTERS = 22


def fill(store: Store, rule: Rule, path: str, *, writes: int, resources: int) -> None:
    """Have the store take writes to `path/N`, the resources by turns. Raises Failed where one was not taken."""
    asyncio.run(_fill(store, rule, path, writes, resources))


def left(store: Store) -> int:
    """How many writes wait still."""
    asked = store.client.pipeline(transaction=False)
    for shard in shards():
        asked.zcard(in_state(shard, "queued"))
    return sum(asked.execute())


async def _fill(store: Store, rule: Rule, path: str, writes: int, resources: int) -> None:
    fence = await open_store(store.url, on_wake=_nobody_waits, timeout_s=10.0, clock=BootClock())
    try:
        numbers = iter(range(writes))
        await asyncio.gather(*(_take(fence, rule, path, numbers, resources) for _ in range(_AT_ONCE)))
    finally:
        await fence.close()


async def _take(fence: FenceStore, rule: Rule, path: str, numbers: Iterator[int], resources: int) -> None:
    for number in numbers:
        target = f"{path}/{number % resources}"
        key = f"backlog-{number}"
        digest = key.rjust(_DIGEST_CHARACTERS, "-")
        intent = Intent(key, DEFAULT_TENANT, f"POST {target}", digest, b"said")
        write = Write(rule, ResourceKey(target.removeprefix("/")), _EPOCH, _HOLDER, None, intent=intent)
        headers = ((b"Host", b"localhost"), (b"Content-Type", b"application/json"))
        taken = await fence.park(write, KeptRequest("POST", target, headers, BODY))
        if not isinstance(taken, IntentRecord):
            raise Failed(f"a write was not taken into the queue: {taken}")


def _nobody_waits(_resource: object) -> None:
    """Nothing is admitted here."""
