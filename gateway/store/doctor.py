"""Is this store fit to be trusted with epochs? Each check says what it saw and what to do."""

import re
from dataclasses import replace

from gateway.core.check import Check
from gateway.core.faults import StoreUnavailable
from gateway.store.answer import milliseconds
from gateway.store.durability import PROCESS, Durability, check_durability
from gateway.store.links.link import ErrorReply, Link, Reply
from gateway.store.links.topology import Topology
from gateway.store.rights import missing_rights

# Before these, scripts are not replicated by their effects, or what the scripts rely on is missing.
_LEAST_REDIS = (7, 0)
_LEAST_VALKEY = (8, 0)
# The name of the one check of a server that does not answer.
UNREACHABLE = "reachable"
# Leases end by the store's clock; agents read their ends by their own.
_SKEW_MS = 1000


async def examine(store: Topology, *, wall_ms: int | None = None, durability: Durability = PROCESS) -> list[Check]:
    """All checks, of each server; one that does not answer yields the one that says so. `wall_ms`: compare the clocks
    too. `durability`: whether it can give that.
    """
    return [check for link in store.servers for check in of(link, await _examine(link, wall_ms, durability))]


def of(link: Link, checks: list[Check]) -> list[Check]:
    """The checks, each named after its server where there are several."""
    return [replace(check, name=f"{check.name} ({link.name})") for check in checks] if link.name else checks


async def _examine(link: Link, wall_ms: int | None, durability: Durability) -> list[Check]:
    try:
        info = fields(await link.call("INFO"))
        mode = await configured(link, "appendfsync")
        checks = [_version(info), _role(info), _persistence(info), _eviction(info), _flushing(mode)]
        checks.append(await _scripts(link))
        if durability != PROCESS:
            checks.append(await _durability(link, durability, info, mode if isinstance(mode, str) else "unknown"))
        if wall_ms is not None:
            checks.append(_clock(await link.call("TIME"), wall_ms))
    except StoreUnavailable as away:
        return [Check(UNREACHABLE, False, str(away), "Start the store, or correct its URL and the user's rights.")]
    return checks


def _version(info: dict[str, str]) -> Check:
    # Valkey reports a redis_version as well: that of the Redis it came from.
    name, least = ("Valkey", _LEAST_VALKEY) if "valkey_version" in info else ("Redis", _LEAST_REDIS)
    shown = info.get("valkey_version") or info.get("redis_version", "unknown")
    parts = re.match(r"(\d+)\.(\d+)", shown)
    ok = parts is not None and (int(parts[1]), int(parts[2])) >= least
    what_to_do = "" if ok else "Use Redis 7 or newer, or Valkey 8 or newer."
    return Check("version", ok, f"{name} {shown}", what_to_do)


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
    what_to_do = "" if ok else "Set maxmemory-policy noeviction: an evicted epoch lets an old writer in again."
    return Check("eviction", ok, policy, what_to_do)


async def configured(link: Link, name: str) -> str | ErrorReply:
    """What INFO does not tell; where CONFIG is forbidden, nobody but the operator knows."""
    try:
        reply = await link.call("CONFIG", "GET", name)
    except ErrorReply as refused:
        return refused
    assert isinstance(reply, list)
    return reply[1].decode() if len(reply) == 2 and isinstance(reply[1], bytes) else "unknown"


async def _durability(link: Link, durability: Durability, info: dict[str, str], appendfsync: str) -> Check:
    check, waits = check_durability(durability, info, appendfsync), durability.wait(1)
    if not check.ok or waits is None:
        return check
    try:
        await link.call(*waits)
    except ErrorReply as refused:
        saw = f"{durability}, and {waits[0]} was refused: {refused}"
        return Check("durability", False, saw, f"Allow {waits[0]} to this user.")
    return check


def _flushing(mode: str | ErrorReply) -> Check:
    if isinstance(mode, ErrorReply):
        what_to_do = (
            "Allow CONFIG GET to this user; or make sure yourself that appendfsync is everysec or always, and "
            "acknowledge that with --allow-unsafe-store."
        )
        return Check("flushing", False, f"CONFIG GET was refused: {mode}", what_to_do)
    ok = mode in ("everysec", "always")
    return Check("flushing", ok, f"appendfsync {mode}", "" if ok else "Set appendfsync everysec or always.")


async def _scripts(link: Link) -> Check:
    try:
        missing = await missing_rights(link)
    except StoreUnavailable as refused:
        what_to_do = "Allow EVAL, EVALSHA and PUBLISH to this user, on keys and channels that begin with fg:."
        return Check("scripts", False, str(refused), what_to_do)
    if missing:
        return Check("scripts", False, f"not allowed in them: {', '.join(missing)}", "Allow what deploy/store.acl has.")
    return Check("scripts", True, "allowed")


def _clock(time: Reply, wall_ms: int) -> Check:
    skew_ms = milliseconds(time) - wall_ms
    ok = abs(skew_ms) <= _SKEW_MS
    return Check("clock", ok, f"{skew_ms} ms from this machine's", "" if ok else "Synchronise both clocks.")


def fields(info: Reply) -> dict[str, str]:
    assert isinstance(info, bytes)
    lines = (line.partition(":") for line in info.decode("utf-8", "replace").splitlines())
    return {name: value for name, colon, value in lines if colon}
