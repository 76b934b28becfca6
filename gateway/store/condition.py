"""What is worth knowing of a store before it hurts. Nothing of it makes the store unsafe."""

import statistics
import time

from gateway.core.check import Check
from gateway.core.faults import StoreUnavailable
from gateway.store.doctor import fields, of
from gateway.store.durability import Durability, online_replicas
from gateway.store.links.link import ErrorReply, Link, ScriptMissing
from gateway.store.links.topology import Topology

# Each write asks the store twice and more, one after the other.
_SLOW_MS = 5.0
_PINGS = 9
# A replica further behind than this loses that much of what was acknowledged, if it takes over.
_LAG_S = 2
# Above this part of what it may use a store refuses writes soon.
_FULL = 0.8
_MIB = 1 << 20


async def diagnose(store: Topology, durability: Durability) -> list[Check]:
    """Replicas, rights to functions, memory and latency of each server. One that does not answer yields nothing."""
    return [check for link in store.servers for check in of(link, await _diagnose(link, durability))]


async def _diagnose(link: Link, durability: Durability) -> list[Check]:
    try:
        info = fields(await link.call("INFO"))
        least = await _least_replicas(link)
        return [
            _replicas(info, least, durability),
            await _functions(link),
            _memory(info),
            await _latency(link),
        ]
    except StoreUnavailable:
        return []


async def _least_replicas(link: Link) -> int | None:
    """How many the server wants before it takes a write (min-replicas-to-write); None where it does not tell."""
    try:
        reply = await link.call("CONFIG", "GET", "min-replicas-to-write")
    except ErrorReply:
        return None
    return int(reply[1]) if isinstance(reply, list) and len(reply) == 2 and isinstance(reply[1], bytes) else None


def _replicas(info: dict[str, str], least: int | None, durability: Durability) -> Check:
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
