"""A cluster of real nodes, made without its command-line tool, so that a test knows each step."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import redis.cluster

from gateway.store.links.slots import slot_of
from tests.store.topology.node import Node, Tls
from tests.until import soon

_SLOTS = 16384
_SETTINGS = (
    *("--cluster-enabled", "yes", "--cluster-node-timeout", "1000", "--cluster-config-file", "nodes.conf"),
    *("--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0", "--maxmemory-policy", "noeviction"),
)


class _Client(redis.cluster.RedisCluster):
    """redis-py asks one node for the keys of a pattern that begins with a tag, and not always the right one."""

    def keys(self, pattern: str = "*", **_: Any) -> Any:
        return super().keys(pattern, target_nodes=self.PRIMARIES)


@dataclass
class ClusterOfNodes:
    """`primaries` had the slots in the beginning, in equal runs; `replicas` one each, of the first ones."""

    primaries: list[Node]
    replicas: list[Node]
    guests: list[Node] = field(default_factory=list)

    @property
    def nodes(self) -> list[Node]:
        return [*self.primaries, *self.replicas]

    @property
    def url(self) -> str:
        return "redis+cluster://" + ",".join(node.address for node in self.nodes)

    def client(self) -> Any:
        """Untyped: redis-py's replies are unions."""
        return _Client(host="127.0.0.1", port=self.primaries[-1].port)

    def owner(self, key: str) -> Node:
        return self.owner_of(slot_of(key))

    def owner_of(self, slot: int) -> Node:
        """By what the last primary says."""
        for first, last, primary, *_ in self.primaries[-1].ask("CLUSTER", "SLOTS"):
            if int(first) <= slot <= int(last):
                return next(node for node in [*self.nodes, *self.guests] if node.port == int(primary[1]))
        raise AssertionError(f"nobody has slot {slot}")

    def move(self, slot: int, source: Node, target: Node) -> None:
        """As the command-line tool does it: announced, key by key, and told to all."""
        begin_move(slot, source, target)
        while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 100):
            source.ask("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, "KEYS", *keys)
        # The new owner has to know it first.
        for node in [target, *self.primaries]:
            node.ask("CLUSTER", "SETSLOT", slot, "NODE", id_of(target))

    def joined(self, directory: Path) -> Node:
        """One more node, without slots; whoever starts it ends it."""
        node = Node(directory, *_SETTINGS)
        node.start()
        node.ask("CLUSTER", "MEET", "127.0.0.1", self.primaries[0].port)
        self.guests.append(node)
        everybody = len(self.nodes) + len(self.guests)
        soon(lambda: all(len(one.ask("CLUSTER", "NODES").splitlines()) == everybody for one in [*self.nodes, node]))
        soon(lambda: b"cluster_state:ok" in node.ask("CLUSTER", "INFO"))
        return node

    def flush(self) -> None:
        for node in self.primaries:
            node.ask("FLUSHALL")
            node.ask("FUNCTION", "FLUSH")

    def stop(self) -> None:
        for node in self.nodes:
            node.stop()


def begin_move(slot: int, source: Node, target: Node) -> None:
    target.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", id_of(source))
    source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", id_of(target))


def id_of(node: Node) -> str:
    return str(node.ask("CLUSTER", "MYID").decode())


def start_cluster(
    directory: Path,
    primaries: int = 3,
    replicas: int = 0,
    *,
    options: tuple[str, ...] = (),
    binary: str | None = None,
    tls: Tls | None = None,
) -> ClusterOfNodes:
    """Returns once every node takes writes; a new cluster refuses them for two seconds."""
    places = (directory / str(at) for at in range(primaries + replicas))
    nodes = [Node(place, *_SETTINGS, *options, binary=binary, tls=tls) for place in places]
    cluster = ClusterOfNodes(nodes[:primaries], nodes[primaries:])
    try:
        _join(cluster)
    except BaseException:
        cluster.stop()
        raise
    return cluster


def _join(cluster: ClusterOfNodes) -> None:
    for at, node in enumerate(cluster.nodes):
        node.start()
        node.ask("CLUSTER", "SET-CONFIG-EPOCH", at + 1)
        node.ask("CLUSTER", "MEET", "127.0.0.1", cluster.nodes[0].port)
    bounds = [_SLOTS * at // len(cluster.primaries) for at in range(len(cluster.primaries) + 1)]
    for node, first, end in zip(cluster.primaries, bounds[:-1], bounds[1:], strict=True):
        node.ask("CLUSTER", "ADDSLOTSRANGE", first, end - 1)
    everybody = len(cluster.nodes)
    soon(lambda: all(len(node.ask("CLUSTER", "NODES").splitlines()) == everybody for node in cluster.nodes))
    for node, primary in zip(cluster.replicas, cluster.primaries, strict=False):
        node.ask("CLUSTER", "REPLICATE", id_of(primary))
    soon(lambda: all(b"cluster_state:ok" in node.ask("CLUSTER", "INFO") for node in cluster.nodes))
    soon(lambda: all(b"master_link_status:up" in node.ask("INFO", "replication") for node in cluster.replicas))
