"""Time passes for a ticket: its deadline is put into the past, as if its gateway had been silent all that while."""

import json
from typing import Any

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys

_LONG_AGO_MS = 1000


def make_overdue(raw: Any, resource: ResourceKey, ticket: str) -> None:
    """Also in the shard's list of deadlines, which the sweeper looks at."""
    _, current, older, _, deadlines, *_ = resource_keys(resource)
    raw.zadd(deadlines, {f"{ticket} {resource}": _LONG_AGO_MS}, xx=True)
    for key in (current, older):
        if packed := raw.hget(key, ticket):
            raw.hset(key, ticket, json.dumps(json.loads(packed) | {"deadline": str(_LONG_AGO_MS)}))
