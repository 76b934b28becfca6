"""Time passes for a ticket or an intent: the store's own instants are put into the past."""

import json
from typing import Any

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys, shard_of_id

_LONG_AGO_MS = 1000
# The field `sent_at` of a packed record.
_SENT_BEFORE = """
local values = cmsgpack.unpack(redis.call('GET', KEYS[1]))
values[14] = values[14] - ARGV[1]
redis.call('SET', KEYS[1], cmsgpack.pack(values), 'KEEPTTL')
"""


def make_overdue(raw: Any, resource: ResourceKey, ticket: str) -> None:
    """As if its gateway had been silent all that while. The shard's list of deadlines says so too."""
    _, current, older, _, deadlines, *_ = resource_keys(resource)
    raw.zadd(deadlines, {f"{ticket} {resource}": _LONG_AGO_MS}, xx=True)
    for key in (current, older):
        if packed := raw.hget(key, ticket):
            raw.hset(key, ticket, json.dumps(json.loads(packed) | {"deadline": str(_LONG_AGO_MS)}))


def make_sent_before(raw: Any, id: str, seconds: float) -> None:
    """The first attempt in doubt was admitted that much earlier."""
    raw.eval(_SENT_BEFORE, 1, f"fg:{{{shard_of_id(id)}}}:i:{id}", round(seconds * 1000))
