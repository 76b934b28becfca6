"""How well a store's servers stand in for each other: what sentinels and a cluster's nodes say of themselves."""

from gateway.core.address import Address
from gateway.core.check import Check
from gateway.core.faults import StoreUnavailable
from gateway.store.answer import text
from gateway.store.links.cluster import Cluster
from gateway.store.links.link import Link
from gateway.store.links.sentinel import ANNOUNCED, GuardedLink, Named
from gateway.store.links.topology import Topology

# Fewer cannot outvote one that is cut off.
_LEAST_SENTINELS = 3


async def examine_topology(store: Topology) -> list[Check]:
    """Nothing of one server."""
    match store:
        case GuardedLink():
            told = await store.sentinels.all_named()
            heard = judge_announcements(await store.sentinels.that_forbid())
            return [*judge_sentinels(told, store.sentinels.count), heard]
        case Cluster():
            return [await _state(node) for node in store.servers]
        case _:
            return []


def judge_sentinels(told: list[Named], asked: int) -> list[Check]:
    """Of `asked` sentinels, those that answered say this."""
    newest = max(told, key=lambda one: one.epoch, default=None)
    if newest is None:
        return [Check("sentinels", False, "none answers", "Start them, or correct their addresses in --store.")]
    number, primaries = newest.others + 1, sorted({str(one.primary) for one in told})
    saw = f"{len(told)} of {asked} answer, {number} know each other, quorum {newest.quorum}"
    what_to_do = "Look at those that do not answer." if len(told) < asked else ""
    if number < _LEAST_SENTINELS or newest.quorum > number:
        what_to_do = (
            "Run three sentinels or more, each on a machine of its own, and a quorum of more than half of them."
        )
    if len(primaries) > 1:
        saw, what_to_do = f"they name several primaries: {', '.join(primaries)}", "Look at the network between them."
    standby = "" if newest.replicas else "Add a replica: without one there is nothing to promote."
    return [
        Check("sentinels", len(primaries) == 1, saw, what_to_do),
        Check("standby", True, f"{newest.replicas} replicas of {newest.primary}", standby),
    ]


def judge_announcements(forbid: list[Address]) -> Check:
    """Whether what sentinels announce is heard, by those that forbid it."""
    if not forbid:
        return Check("announcements", True, "heard")
    saw = f"{', '.join(map(str, forbid))} may not be subscribed to: a failover is heard of half a second late"
    what_to_do = f"Allow SUBSCRIBE, and the channels {', '.join(ANNOUNCED)}, to this user at the sentinels."
    return Check("announcements", True, saw, what_to_do)


async def _state(node: Link) -> Check:
    name = f"cluster ({node.name})"
    try:
        info = text(await node.call("CLUSTER", "INFO"))
    except StoreUnavailable as away:
        return Check(name, False, str(away), "Start the node, or allow CLUSTER INFO to this user.")
    fields = dict(line.split(":", 1) for line in info.splitlines() if ":" in line)
    state, slots = fields.get("cluster_state", "unknown"), fields.get("cluster_slots_ok", "0")
    ok = state == "ok"
    what_to_do = "" if ok else "Look at the nodes that are away: the resources of their slots cannot be written."
    return Check(name, ok, f"{state}, {slots} slots served by {fields.get('cluster_size', '0')} primaries", what_to_do)
