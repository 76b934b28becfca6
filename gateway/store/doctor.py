"""Is this store fit to be trusted with epochs? Each check says what it saw and what to do."""

import re

from gateway.core.check import Check
from gateway.core.faults import StoreUnavailable
from gateway.store.link import Link, Reply

# Before these, scripts are not replicated by their effects, or what the scripts rely on is missing.
_LEAST_REDIS = (7, 0)
_LEAST_VALKEY = (8, 0)
# Leases end by the store's clock; agents read their ends by their own.
_SKEW_MS = 1000


async def examine(link: Link, *, wall_ms: int | None = None) -> list[Check]:
    """All checks; a store that does not answer yields the one that says so. `wall_ms`: compare the clocks too."""
    try:
        info = _fields(await link.call("INFO"))
        checks = [_version(info), _role(info), _persistence(info), _eviction(info), await _flushing(link)]
        checks.append(await _scripts(link))
        if wall_ms is not None:
            checks.append(_clock(await link.call("TIME"), wall_ms))
    except StoreUnavailable as away:
        return [Check("reachable", False, str(away), "Start the store, or correct its URL and the user's rights.")]
    return checks


def _version(info: dict[str, str]) -> Check:
    # Valkey reports a redis_version as well: that of the Redis it came from.
    name, least = ("Valkey", _LEAST_VALKEY) if "valkey_version" in info else ("Redis", _LEAST_REDIS)
    shown = info.get("valkey_version") or info.get("redis_version", "unknown")
    parts = re.match(r"(\d+)\.(\d+)", shown)
    ok = parts is not None and (int(parts[1]), int(parts[2])) >= least
    todo = "" if ok else "Use Redis 7 or newer, or Valkey 8 or newer."
    return Check("version", ok, f"{name} {shown}", todo)


def _role(info: dict[str, str]) -> Check:
    role = info.get("role", "unknown")
    ok = role == "master"
    return Check("role", ok, role, "" if ok else "Give the primary's URL: a replica refuses writes.")


def _persistence(info: dict[str, str]) -> Check:
    if info.get("aof_enabled") != "1":
        what_to_do = "Set appendonly yes: epochs that a restart forgets can be used again."
        return Check("persistence", False, "the append-only file is off", what_to_do)
    status = info.get("aof_last_write_status", "ok")
    ok = status == "ok"
    return Check(
        "persistence", ok, f"append-only file on, last write {status}", "" if ok else "Look at the store's disk."
    )


def _eviction(info: dict[str, str]) -> Check:
    policy = info.get("maxmemory_policy", "unknown")
    ok = policy == "noeviction"
    todo = "" if ok else "Set maxmemory-policy noeviction: an evicted epoch lets an old writer in again."
    return Check("eviction", ok, policy, todo)


async def _flushing(link: Link) -> Check:
    """INFO does not tell how often the file is flushed; where CONFIG is forbidden, nobody but the operator knows."""
    try:
        reply = await link.call("CONFIG", "GET", "appendfsync")
    except StoreUnavailable as refused:
        todo = (
            "Allow CONFIG GET to this user; or make sure yourself that appendfsync is everysec or always, and "
            "acknowledge that with --allow-unsafe-store."
        )
        return Check("flushing", False, f"CONFIG GET was refused: {refused}", todo)
    assert isinstance(reply, list)
    mode = reply[1].decode() if len(reply) == 2 and isinstance(reply[1], bytes) else "unknown"
    ok = mode in ("everysec", "always")
    return Check("flushing", ok, f"appendfsync {mode}", "" if ok else "Set appendfsync everysec or always.")


async def _scripts(link: Link) -> Check:
    try:
        await link.call("EVAL", "return 1", 0)
    except StoreUnavailable as refused:
        todo = "Allow EVAL, EVALSHA and PUBLISH to this user, on keys and channels that begin with fg:."
        return Check("scripts", False, str(refused), todo)
    return Check("scripts", True, "allowed")


def _clock(time: Reply, wall_ms: int) -> Check:
    assert isinstance(time, list)
    seconds, micros = time
    assert isinstance(seconds, bytes)
    assert isinstance(micros, bytes)
    skew_ms = int(seconds) * 1000 + int(micros) // 1000 - wall_ms
    ok = abs(skew_ms) <= _SKEW_MS
    return Check("clock", ok, f"{skew_ms} ms from this machine's", "" if ok else "Synchronise both clocks.")


def _fields(info: Reply) -> dict[str, str]:
    assert isinstance(info, bytes)
    lines = (line.partition(":") for line in info.decode("utf-8", "replace").splitlines())
    return {name: value for name, colon, value in lines if colon}
