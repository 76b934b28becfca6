"""Time passes for reservations: what became of each attempt is known by now."""

import json
from typing import Any


def make_due(raw: Any) -> None:
    for key in raw.keys("fg:{$*}:r:*"):
        for attempt, packed in raw.hgetall(key).items():
            raw.hset(key, attempt, json.dumps(json.loads(packed) | {"until": "1"}))
    for key in raw.keys("fg:{$*}:p"):
        for id in raw.zrange(key, 0, -1):
            raw.zadd(key, {id: 1})
