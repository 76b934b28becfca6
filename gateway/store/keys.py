"""The only speller of keys, shard tags and channels.

All keys of one resource carry the tag of its shard, so that one script reaches them in a cluster. A ticket's id begins
with its shard, so that the record of a write that ended unknown is found by its id alone.
"""

import zlib
from functools import lru_cache

from gateway.core.write import ResourceKey

SHARDS = 1024
PEPPER = "fg:pepper"
SWEEPER = "fg:sweeper"
PROBE = "fg:probe"

# Enough for the resources that are written at one time; spelling the seven anew costs two microseconds.
_REMEMBERED = 4096

ResourceKeys = tuple[str, str, str, str, str, str, str]


def shard_of(resource: ResourceKey) -> str:
    """Three hex digits. A checksum spreads resources evenly, which is all that is asked of it."""
    return f"{zlib.crc32(resource.encode()) % SHARDS:03x}"


@lru_cache(_REMEMBERED)
def resource_keys(resource: ResourceKey) -> ResourceKeys:
    """Every script's KEYS: fence, tickets, older tickets, waiters, deadlines, unknown writes, the prefix of records."""
    tag = f"fg:{{{shard_of(resource)}}}:"
    return (
        f"{tag}f:{resource}",
        f"{tag}t:{resource}",
        f"{tag}o:{resource}",
        f"{tag}w:{resource}",
        f"{tag}d",
        f"{tag}s:unknown",
        f"{tag}i:",
    )


def shards() -> list[str]:
    return [f"{number:03x}" for number in range(SHARDS)]


def deadlines(shard: str) -> str:
    return f"fg:{{{shard}}}:d"


def unknown_writes(shard: str) -> str:
    return f"fg:{{{shard}}}:s:unknown"


def unknown_record(ticket: str) -> str:
    return f"fg:{{{ticket[:3]}}}:i:{ticket}"


def fence_pattern(prefix: str) -> str:
    """A glob for the fence records of all resources that begin with `prefix`."""
    escaped = "".join(f"\\{ch}" if ch in "*?[]\\^-" else ch for ch in prefix)
    return f"fg:{{???}}:f:{escaped}*"


def resource_of(fence_key: str) -> ResourceKey:
    """The resource whose fence record has this key: what follows `fg:{3ff}:f:`."""
    return ResourceKey(fence_key[11:])


def wake_channel(gateway: str) -> str:
    """Spelled in `scripts/parts/waiters.lua` as well: a script publishes to gateways that it finds in the store."""
    return f"fg:wake:{gateway}"
