"""What is kept for looking back has bounds: events by age and number, lists of ended intents by their records."""

import asyncio
from dataclasses import dataclass

from gateway.core.faults import StoreUnavailable
from gateway.store.answer import number
from gateway.store.fence import FenceStore
from gateway.store.keys import audit_trail, shard_keys, shards
from gateway.store.script import PRUNING_PARTS, Script

PRUNE = Script("prune", PRUNING_PARTS)

# Entries of a list that one call looks at: half a millisecond of the store's time, in which it serves nobody else.
_LOOKED_AT = 100
# A list is gone through until fewer than one in four of its entries are left over, so that never more of it are.
_WORTH_ANOTHER = _LOOKED_AT // 4


@dataclass(frozen=True, slots=True)
class Retention:
    """How long events of the audit trail are kept, in seconds, and how many of them in all shards together."""

    seconds: float
    events: int


async def prune(store: FenceStore, retention: Retention) -> None:
    """Go once through all shards, one after the other: nobody waits for it. Raises StoreUnavailable.

    One shard that cannot be pruned keeps no other from it; a store that is away ends it.
    """
    length = shared_length(await _lengths(store), retention.events)
    oldest_ms = max(0, store.expected_ms() - round(retention.seconds * 1000))
    failed = None
    for shard in shards():
        try:
            await _prune_shard(store, shard, length, oldest_ms)
        except StoreUnavailable as error:
            if not store.healthy:
                raise
            failed = error
    if failed is not None:
        raise failed


def shared_length(lengths: list[int], total: int) -> int:
    """The length to which trails are cut so that all together hold `total` events.

    A busy one may have what the others leave over: the writes of a mail API may all be of one resource, and so of one
    shard.
    """
    left = total
    for at, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - at)
        if length > share:
            return share
        left -= length
    return total


async def _lengths(store: FenceStore) -> list[int]:
    replies = await asyncio.gather(
        *(store.link.call("XLEN", audit_trail(shard)) for shard in shards()), return_exceptions=True
    )
    for reply in replies:
        if isinstance(reply, BaseException) and not (isinstance(reply, StoreUnavailable) and store.healthy):
            raise reply
    # One that is no trail is told by its own pruning.
    return [0 if isinstance(reply, BaseException) else number(reply) for reply in replies]


async def _prune_shard(store: FenceStore, shard: str, length: int, oldest_ms: int) -> None:
    arguments = (str(_LOOKED_AT), str(length), str(oldest_ms))
    while True:
        answer = await store.run(PRUNE, shard_keys(shard), *arguments)
        if number(answer.rest[0]) < _WORTH_ANOTHER:
            return
