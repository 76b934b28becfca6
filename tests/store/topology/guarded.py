"""A primary, its replicas, and the sentinels that guard them."""

from dataclasses import dataclass
from pathlib import Path

import redis

from tests.store.topology.node import Node, Tls
from tests.until import soon, until

SERVICE = "fence"
_SERVER = (
    *("--save", "", "--appendonly", "no", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"),
    *("--maxmemory-policy", "noeviction"),
)
# They hear of each other sooner, and do not rest for half a minute because the machine is busy.
_TIMES = ("publish-period", "300", "info-period", "500", "ask-period", "300", "tilt-trigger", "60000")
# On a machine that others keep busy.
_PROMOTED_WITHIN_S = 90.0
_GUARD = """\
sentinel monitor {service} 127.0.0.1 {port} {quorum}
sentinel down-after-milliseconds {service} 1000
sentinel failover-timeout {service} 3000
"""


@dataclass
class GuardedServers:
    """`servers`: the first one was the primary in the beginning."""

    servers: list[Node]
    sentinels: list[Node]

    @property
    def url(self) -> str:
        return f"redis+sentinel://{','.join(node.address for node in self.sentinels)}/{SERVICE}"

    def primary(self) -> Node:
        """By what the first sentinel says."""
        _, port = self.sentinels[0].ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)
        return next(node for node in self.servers if node.port == int(port))

    def fails_over(self) -> bool:
        """Whether the first sentinel has begun to; as long as no replica is in step it refuses to."""
        try:
            return bool(self.sentinels[0].ask("SENTINEL", "FAILOVER", SERVICE))
        except redis.ResponseError:
            return False

    async def promoted(self, instead_of: Node) -> None:
        """Wait until the sentinels name another primary."""
        await until(lambda: self.primary() is not instead_of, within_s=_PROMOTED_WITHIN_S)

    def stop(self) -> None:
        for node in [*self.sentinels, *self.servers]:
            node.stop()


def start_guarded(
    directory: Path,
    replicas: int = 1,
    sentinels: int = 3,
    *,
    options: tuple[str, ...] = (),
    binary: str | None = None,
    tls: Tls | None = None,
) -> GuardedServers:
    """Returns once the sentinels know each other and the replicas, and the replicas are in step. `options` are the
    servers', and go before what they have here."""
    common = {"binary": binary, "tls": tls}
    servers = [Node(directory / f"server{at}", *_SERVER, *options, **common) for at in range(1 + replicas)]
    guard = _GUARD.format(service=SERVICE, port=servers[0].port, quorum=sentinels // 2 + 1)
    places = (directory / f"sentinel{at}" for at in range(sentinels))
    nodes = [Node(place, "--sentinel", configuration=guard, **common) for place in places]
    guarded = GuardedServers(servers, nodes)
    try:
        _set_up(guarded)
    except BaseException:
        guarded.stop()
        raise
    return guarded


def _set_up(guarded: GuardedServers) -> None:
    primary, *replicas = guarded.servers
    primary.start()
    for node in replicas:
        node.start()
        node.ask("REPLICAOF", "127.0.0.1", primary.port)
    soon(lambda: all(b"master_link_status:up" in node.ask("INFO", "replication") for node in replicas))
    for node in guarded.sentinels:
        node.start()
        node.ask("SENTINEL", "DEBUG", *_TIMES)
    others = len(guarded.sentinels) - 1
    soon(lambda: all(_told(node) == (others, len(replicas)) for node in guarded.sentinels))


def _told(sentinel: Node) -> tuple[int, int]:
    """How many other sentinels and how many replicas it knows."""
    flat = sentinel.ask("SENTINEL", "MASTER", SERVICE)
    fields = dict(zip(flat[::2], flat[1::2], strict=True))
    return int(fields[b"num-other-sentinels"]), int(fields[b"num-slaves"])
