"""What is worth knowing of a store before it hurts. A gateway starts all the same."""

import re
import statistics
import time

from gateway.core.check import Check
from gateway.core.faults import StoreUnavailable
from gateway.store.doctor import configured, fields, of
from gateway.store.durability import Durability, online_replicas
from gateway.store.links.link import ErrorReply, Link, Reply, ScriptMissing
from gateway.store.links.topology import Topology

# Each write asks the store twice and more, one after the other.
_SLOW_MS = 5.0
_PINGS = 9
# A replica further behind than this loses that much of what was acknowledged, if it takes over.
_LAG_S = 2
# Above this part of what it may use a store refuses writes soon.
_FULL = 0.8
_MIB = 1 << 20
_LEAST_THAT_READS_BACK = (9, 1)
_ALL_RIGHTS = frozenset((b"+@all", b"~*", b"&*"))


async def diagnose(store: Topology, durability: Durability) -> list[Check]:
    """Replicas, rights to functions, memory and latency of each server. One that does not answer yields nothing."""
    return [check for link in store.servers for check in of(link, await _diagnose(link, durability))]


async def _diagnose(link: Link, durability: Durability) -> list[Check]:
    try:
        info = fields(await link.call("INFO"))
        return [
            _replicas(info, await configured(link, "min-replicas-to-write"), durability),
            await _functions(link),
            await _users(link, info),
            _memory(info),
            await _latency(link),
        ]
    except StoreUnavailable:
        return []


def _replicas(info: dict[str, str], told: str | ErrorReply, durability: Durability) -> Check:
    """`told`: how many the server wants before it takes a write, where it tells."""
    least = int(told) if isinstance(told, str) and told.isdecimal() else None
    online = online_replicas(info)
    lags = [int(replica.get("lag", "0")) for replica in online]
    saw = f"{len(online)} online" + (f", the slowest {max(lags)} s behind" if lags else "")
    saw += "" if least is None else f", min-replicas-to-write {least}"
    if lags and max(lags) > _LAG_S:
        what_to_do = "Look at the replica that is behind: what it lacks is lost if it takes over."
        return Check("replicas", True, saw, what_to_do)
    if online and not durability.replicas:
        what_to_do = (
            "Start gateways with --durability replica:N: one that takes over lacks what it had not been sent yet."
        )
        return Check("replicas", True, saw, what_to_do)
    if durability.replicas and not least:
        what_to_do = (
            f"Set min-replicas-to-write {durability.replicas}: a primary that was cut off then takes no writes."
        )
        return Check("replicas", True, saw, what_to_do)
    return Check("replicas", True, saw)


async def _functions(link: Link) -> Check:
    """Asked for what cannot be there, a server tells whether it would have been allowed."""
    lacking = [
        word
        for word, command in (("FCALL", ("FCALL", "fencegate_none", 0)), ("FUNCTION LOAD", ("FUNCTION", "LOAD", "#!")))
        if (await _refusal(link, *command)).startswith("NOPERM")
    ]
    if lacking:
        what_to_do = "Allow FCALL and FUNCTION LOAD: each write then costs the store a third less."
        return Check("functions", True, f"not allowed: {', '.join(lacking)}; scripts are run instead", what_to_do)
    return Check("functions", True, "allowed")


async def _users(link: Link, info: dict[str, str]) -> Check:
    """Older servers read what scripts wrote back from the append-only file with the rights of `default`, and leave out
    what it may not do (redis/redis issue 14541, valkey-io/valkey pull request 3984).
    """
    if await _told(link, "ACL", "WHOAMI") == b"default":
        return Check("users", True, "default")
    valkey = re.match(r"(\d+)\.(\d+)", info.get("valkey_version", ""))
    if valkey is not None and (int(valkey[1]), int(valkey[2])) >= _LEAST_THAT_READS_BACK:
        return Check("users", True, "one of its own")
    default = await _told(link, "ACL", "GETUSER", "default")
    has_all = isinstance(default, list) and _ALL_RIGHTS.issubset(one for one in default if isinstance(one, bytes))
    if has_all:
        return Check("users", True, "one of its own; default has all rights")
    what_to_do = (
        "Make sure that default keeps all rights, also where it is off (`user default off ~* &* +@all`): with fewer "
        "this server may lose at a restart what scripts wrote."
    )
    if default is not None:
        return Check("users", False, "one of its own; default has not all rights", what_to_do)
    return Check("users", True, "one of its own", what_to_do)


async def _told(link: Link, *command: str) -> Reply:
    """The reply; None where the command is not allowed."""
    try:
        return await link.call(*command)
    except ErrorReply:
        return None


async def _refusal(link: Link, *command: str | int) -> str:
    try:
        await link.call(*command)
    except ErrorReply as refused:
        return str(refused)
    except ScriptMissing:
        return ""
    return ""


def _memory(info: dict[str, str]) -> Check:
    used, most = int(info.get("used_memory", "0")), int(info.get("maxmemory", "0"))
    host = int(info.get("total_system_memory", "0"))
    if most == 0:
        saw = f"{used // _MIB} MiB used, no maxmemory; its machine has {host // _MIB} MiB"
        what_to_do = "Set maxmemory below what the machine has: a full store refuses writes, a killed one loses them."
        return Check("memory", True, saw, what_to_do)
    saw = f"{used // _MIB} of {most // _MIB} MiB used"
    if used > most * _FULL:
        return Check("memory", True, saw, "Raise maxmemory, or keep less: past it every write is refused.")
    return Check("memory", True, saw)


async def _latency(link: Link) -> Check:
    took_ms = []
    for _ in range(_PINGS):
        began = time.perf_counter()
        await link.call("PING")
        took_ms.append((time.perf_counter() - began) * 1000)
    median = statistics.median(took_ms)
    what_to_do = "Bring the store nearer, or look at what keeps it busy: a write asks it at least twice."
    return Check("latency", True, f"{median:.2f} ms (median of {_PINGS})", what_to_do if median > _SLOW_MS else "")
