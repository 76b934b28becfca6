"""Fence records of leases that ended long ago are collected when an operator says so: nobody can need them any more."""

from dataclasses import dataclass

from gateway.core.write import ResourceKey
from gateway.store.answer import text
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys, shard_of
from gateway.store.script import Script
from gateway.store.views.silence import heard, told
from gateway.store.views.walk import walk

COLLECT = Script("collect")

# Of one call: each record costs the store some ten microseconds, in which it serves others between them.
_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class Collected:
    """How many records were looked at, and how many of them have gone, or would go. `next`: where the next call begins,
    None at the end; `incomplete` says what of the store did not answer.
    """

    looked_at: int
    collected: int
    next: str | None
    incomplete: str | None


async def collect(store: FenceStore, prefix: str, cursor: str | None, *, looks: bool) -> Collected:
    """Some more of the resources whose names begin with `prefix`. `looks`: nothing goes. A record that goes is of a
    lease that ended and was granted more than a day ago (scripts/collect.lua).

    Raises BadCursor, and StoreUnavailable.
    """
    stretch = await walk(store.link, prefix, cursor, _LOOKED_AT)
    silent = dict(stretch.silent)
    word = "looks" if looks else ""
    asked = ((shard_of(resource), _collect(store, resource, word)) for resource in stretch.resources)
    answers = [answer for answer in await heard(asked, silent) if answer is not None]
    return Collected(len(answers), answers.count("collected"), stretch.next, told(store.link, silent))


async def _collect(store: FenceStore, resource: ResourceKey, word: str) -> str:
    """What has become of its record. Among many approvals of the shard it is looked for in several steps."""
    looked_at = ""
    while (answer := await store.run(COLLECT, resource_keys(resource), resource, word, looked_at)).word == "counted":
        looked_at = text(answer.rest[0])
    return answer.word
