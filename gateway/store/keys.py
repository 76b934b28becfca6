"""The only speller of keys, shard tags and channels.

All keys of one resource carry the tag of its shard, so that one script reaches them in a cluster. The ids of tickets
and intents begin with their shard, so that a record is found by its id alone.
"""

import re
import zlib
from functools import lru_cache
from typing import Literal

from gateway.core.intent import IntentId
from gateway.core.write import ResourceKey

SHARDS = 1024
PEPPER = "fg:pepper"
SWEEPER = "fg:sweeper"
KEPT_BYTES = "fg:kept"
PARKED_BYTES = "fg:parked"
# The same of each principal.
PARKED_BY = "fg:parked-by"
# Shards in which something may be due for delivery, by the millisecond in which they should be looked at.
HINTS = "fg:due"
# Resources of writes that were approved just now, by the millisecond of the approval.
APPROVED = "fg:approved"
# Pauses wider than a resource belong to no shard; they are in one all the same, for their ids and the audit trail.
PAUSES_SHARD = "000"
WIDE_PAUSES = f"fg:{{{PAUSES_SHARD}}}:pauses"
# Spelled in `scripts/parts/pause.lua` as well.
PAUSES_CHANNEL = "fg:pauses"

# Enough for the resources that are written at one time; spelling all keys of one anew costs two microseconds.
_REMEMBERED = 4096
_ID = re.compile("[0-9a-f]{3}[A-Za-z0-9_-]{1,96}")

ResourceKeys = tuple[str, str, str, str, str, str, str]
Used = Literal["writes", "leases", "resources"]
LetterState = Literal["waiting", "dead"]


@lru_cache(_REMEMBERED)
def shard_of(resource: ResourceKey) -> str:
    """Three hex digits. A checksum spreads resources evenly, which is all that is asked of it."""
    return f"{zlib.crc32(resource.encode()) % SHARDS:03x}"


@lru_cache(_REMEMBERED)
def resource_keys(resource: ResourceKey) -> ResourceKeys:
    """Every script's KEYS: fence, tickets, older tickets, waiters, deadlines, audit, the beginning of all others.

    The last is never a key, so that a cluster runs no script in a slot that moves (see `budget_script_keys`).
    """
    return _keys(shard_of(resource), resource)


def shard_keys(shard: str) -> ResourceKeys:
    """The same where a script needs no resource but only its shard."""
    return _keys(shard, "")


def _keys(shard: str, resource: str) -> ResourceKeys:
    tag = f"fg:{{{shard}}}:"
    return (
        f"{tag}f:{resource}",
        f"{tag}t:{resource}",
        f"{tag}o:{resource}",
        f"{tag}w:{resource}",
        f"{tag}d",
        f"{tag}a",
        tag,
    )


def shards() -> list[str]:
    return [f"{number:03x}" for number in range(SHARDS)]


def unfinished(resource: ResourceKey) -> str:
    """Writes that ended as unknown and whose server may be at work on them, by their tickets' ids."""
    return f"fg:{{{shard_of(resource)}}}:u:{resource}"


def deadlines(shard: str) -> str:
    return f"fg:{{{shard}}}:d"


def probe(shard: str) -> str:
    """What is written to see whether the shard's server takes writes."""
    return f"fg:{{{shard}}}:probe"


def store_record(shard: str) -> str:
    """Which incarnation of the store this is, and what it has lost; of one shard of each server."""
    return f"fg:{{{shard}}}:store"


def marks(shard: str) -> str:
    """Beside it: the last mark of each process, and when it was made."""
    return f"fg:{{{shard}}}:marks"


def origin(shard: str) -> str:
    """What the shard begins with (loss/origins.py)."""
    return f"fg:{{{shard}}}:origin"


def intent_record(id: str) -> str:
    return f"fg:{{{id[:3]}}}:i:{id}"


def in_state(shard: str, state: str) -> str:
    """The ids of the shard's intents that are in a state, by the millisecond in which they came to it."""
    return f"fg:{{{shard}}}:s:{state}"


def paused_resources(shard: str) -> str:
    return f"fg:{{{shard}}}:s:paused"


def questions(shard: str) -> str:
    """The unknown intents that are asked about, by the millisecond of the next question."""
    return f"fg:{{{shard}}}:p"


def deliveries(shard: str) -> str:
    """The resources with a queue, by the millisecond in which its head is due."""
    return f"fg:{{{shard}}}:q"


def approvals(shard: str) -> str:
    """The intents that wait for an approval, by the millisecond in which that ends."""
    return f"fg:{{{shard}}}:e"


def last_wait(key: str) -> str:
    """What is written before a wait for the server that has this key (durable.py)."""
    tag, brace, _ = key.partition("}")
    return f"{tag}{brace}:safe"


def audit_trail(shard: str) -> str:
    return f"fg:{{{shard}}}:a"


def seals(shard: str) -> str:
    """Beside it: the digests by which a change of it is found, by the number of the event that each seals."""
    return f"fg:{{{shard}}}:z"


def kept_request(shard: str, id: str) -> str:
    return f"fg:{{{shard}}}:r:{id}"


def kept_requests(shard: str, purpose: str) -> str:
    """The ids of requests that are kept for a purpose, by the microsecond in which they came."""
    return f"fg:{{{shard}}}:k:{purpose}"


def compensation(shard: str, id: str) -> str:
    """What would take an applied intent back."""
    return f"fg:{{{shard}}}:c:{id}"


def notification(shard: str, id: str) -> str:
    return f"fg:{{{shard}}}:m:{id}"


def notifications(shard: str, state: LetterState) -> str:
    """The waiting ones, each with its upstream, by the millisecond of the next attempt; or the dead ones, by that of
    their death.
    """
    return f"fg:{{{shard}}}:l:{state}"


def intent_id(resource: ResourceKey, digest: str) -> IntentId:
    return IntentId(f"{shard_of(resource)}{digest}")


def shard_of_id(id: str) -> str | None:
    """The shard in which a ticket's or an intent's record is; None for what is no id."""
    return id[:3] if _ID.fullmatch(id) and int(id[:3], 16) < SHARDS else None


def fence_pattern(prefix: str) -> str:
    """A glob for the fence records of all resources that begin with `prefix`."""
    escaped = "".join(f"\\{ch}" if ch in "*?[]\\^-" else ch for ch in prefix)
    return f"fg:{{???}}:f:{escaped}*"


def resource_of(fence_key: str) -> ResourceKey:
    """The resource whose fence record has this key: what follows `fg:{3ff}:f:`."""
    return ResourceKey(fence_key[11:])


def used(principal: str, what: Used) -> str:
    """What a principal has used of one quota. No shard's tag begins with an `@`."""
    return f"fg:{{@{principal}}}:{what}"


def budget_keys(upstream: str, rule: str) -> str:
    """The beginning of all keys of a rule's budgets. No shard's tag begins with a `$`."""
    return f"fg:{{${upstream}/{rule}}}:"


def budget_script_keys(upstream: str, rule: str) -> tuple[str, str]:
    """The KEYS of the budgets' scripts: that beginning, which is no key, and one that is.

    While a slot moves, a cluster runs a script of one key where the slot goes, though the keys that it finds by itself
    may not have come yet. A script of two keys, of which one is missing, it puts off. Likewise those of a resource.
    """
    beginning = budget_keys(upstream, rule)
    return beginning, f"{beginning}s"


def pending_reservations(upstream: str, rule: str) -> str:
    """Whose fate is not known yet, by the millisecond at which it should be asked."""
    return f"{budget_keys(upstream, rule)}p"


def reservation(upstream: str, rule: str, record: str) -> str:
    return f"{budget_keys(upstream, rule)}r:{record}"


def wake_channel(gateway: str) -> str:
    """Spelled in `scripts/parts/waiters.lua` as well: a script publishes to gateways that it finds in the store."""
    return f"fg:wake:{gateway}"
