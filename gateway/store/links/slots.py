"""Which server of a cluster has which key: its slots, as the nodes tell of them.

Nodes may tell different things for a while. The cluster's own rule decides: of two that claim a slot, it belongs to the
one with the larger configuration epoch.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from redis.crc import REDIS_CLUSTER_HASH_SLOTS as SLOTS
from redis.crc import key_slot

from gateway.core.address import Address
from gateway.store.answer import number, text
from gateway.store.links.link import Reply

# How a node spells the address of one whose name it was not told.
_UNKNOWN_HOST = b"?"


@dataclass(frozen=True, slots=True)
class Claim:
    """A run of slots that a primary has, by what one node says: its first and its last."""

    first: int
    last: int
    owner: Address
    epoch: int


def slot_of(key: str) -> int:
    return key_slot(key.encode())


def claims(slots: Reply, nodes: Reply, asked: Address) -> list[Claim]:
    """What the node at `asked` says: its answers to CLUSTER SLOTS, which has the addresses that clients should use, and
    CLUSTER NODES, which has the epochs.
    """
    assert isinstance(slots, list)
    epochs = _epochs(text(nodes))
    found = []
    for run in slots:
        assert isinstance(run, list)
        first, last, primary, *_ = run
        assert isinstance(primary, list)
        host, port, id, *_ = primary
        if host != _UNKNOWN_HOST:
            owner = Address(text(host) if host else asked.host, number(port))
            found.append(Claim(number(first), number(last), owner, epochs.get(text(id), 0)))
    return found


def owners(told: Iterable[Claim]) -> list[Address | None]:
    """The owner of each slot; None where nobody claims it."""
    table: list[Address | None] = [None] * SLOTS
    for claim in sorted(told, key=lambda claim: claim.epoch):
        table[claim.first : claim.last + 1] = [claim.owner] * (claim.last + 1 - claim.first)
    return table


def _epochs(nodes: str) -> dict[str, int]:
    """By id. A line is: id, address, flags, primary, ping, pong, epoch, state of the connection, slots."""
    lines = (line.split(" ") for line in nodes.splitlines())
    return {fields[0]: int(fields[6]) for fields in lines if len(fields) > 6}
