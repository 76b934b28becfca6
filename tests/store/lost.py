"""A store that has told that it lost acknowledged work."""

from typing import Any

from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys, store_record
from tests.store.fences import RESOURCE

LOST = f"{resource_keys(RESOURCE)[6]}lost"


def lose(raw: Any, floor: int, *, accepted: bool = False) -> None:
    """The store has told that it lost work, as `regress.lua` does."""
    raw.set(LOST, f"{floor} {'accepted' if accepted else 'open'}")
    about = {"incarnation": "b", "began": 1, "since": floor - 1000, "floor": floor, "why": "a test", "by": "one"}
    raw.hset(store_record("000"), mapping=about)


def all_landed(store: FenceStore) -> None:
    """So much time has passed that nothing of what this gateway ever sent is in flight."""
    store.lasting._until.clear()


def put_back(raw: Any, kept: dict[bytes, bytes]) -> None:
    """The store is as it was when `fences.everything` told."""
    with raw.pipeline(transaction=True) as steps:
        steps.flushdb()
        for key, dump in kept.items():
            steps.restore(key, 0, dump)
        steps.execute()
