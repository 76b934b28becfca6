"""Whose slots are believed: tables, in the words of a cluster's nodes."""

import pytest

from gateway.core.address import Address
from gateway.store.links.link import Reply
from gateway.store.links.slots import Claim, claims, owners, slot_of

_ASKED, _A, _B = Address("asked", 1), Address("10.0.0.1", 7001), Address("10.0.0.2", 7002)
_NODES = (
    b"aaa 10.0.0.1:7001@17001,a.internal myself,master - 0 0 3 connected 0-99\n"
    b"bbb 10.0.0.2:7002@17002 master - 0 1795977963628 12 connected 100-199 [93-<-aaa]\n"
    b"vars currentEpoch 12 lastVoteEpoch 0\n"
)


def run(first: int, last: int, host: bytes | None, port: int, id: bytes) -> Reply:
    replica: Reply = [b"10.0.0.9", 7009, b"rrr", []]
    return [first, last, [host, port, id, [b"ip", b"10.0.0.1"]], replica]


@pytest.mark.parametrize(
    ("slots", "claimed"),
    [
        ([run(0, 99, b"10.0.0.1", 7001, b"aaa")], [Claim(0, 99, _A, 3)]),
        ([run(0, 99, b"a.internal", 7001, b"aaa")], [Claim(0, 99, Address("a.internal", 7001), 3)]),
        ([run(0, 99, None, 7001, b"aaa")], [Claim(0, 99, Address("asked", 7001), 3)]),
        ([run(0, 99, b"", 7001, b"aaa")], [Claim(0, 99, Address("asked", 7001), 3)]),
        ([run(0, 99, b"?", 7001, b"aaa")], []),
        ([run(5, 5, b"10.0.0.2", 7002, b"bbb")], [Claim(5, 5, _B, 12)]),
        ([run(5, 5, b"10.0.0.2", 7002, b"new")], [Claim(5, 5, _B, 0)]),
        ([], []),
    ],
    ids=[
        "an address",
        "a name",
        "where the node itself was asked",
        "where the node itself was asked, as nodes said it before",
        "an address that the node does not know yet",
        "a single slot",
        "a node without an epoch",
        "a node that has heard of no slots",
    ],
)
def test_what_a_node_claims(slots: list[Reply], claimed: list[Claim]) -> None:
    """Of CLUSTER SLOTS the addresses, of CLUSTER NODES the epochs."""
    assert claims(slots, _NODES, _ASKED) == claimed


@pytest.mark.parametrize("reverse", [False, True], ids=["the old one is heard first", "the new one is heard first"])
def test_the_larger_epoch_has_the_slot(*, reverse: bool) -> None:
    """In whatever order the nodes answer: one that was cut off claims what it had."""
    told = [Claim(0, 16383, _A, 3), Claim(100, 199, _B, 12), Claim(150, 160, _A, 3)]
    table = owners(reversed(told) if reverse else told)

    assert (table[99], table[100], table[155], table[199], table[200]) == (_A, _B, _B, _B, _A)


def test_a_slot_that_nobody_claims_has_no_owner() -> None:
    """Its callers are told so by any node."""
    table = owners([Claim(1, 16382, _A, 1)])

    assert (table[0], table[1], table[16382], table[16383], len(table)) == (None, _A, _A, None, 16384)


def test_all_keys_with_one_tag_have_one_slot() -> None:
    """What a script is given, and what it finds by itself."""
    assert slot_of("fg:{3ff}:f:report/{7}") == slot_of("fg:{3ff}:") == slot_of("3ff")
