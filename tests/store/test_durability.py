"""How safe a record has to be: what is asked of the store, and which answer is enough."""

import pytest

from gateway.store.durability import Durability, check_durability, read_durability

_VALKEY = {"redis_version": "7.2.4", "valkey_version": "9.1.2"}
_REPLICA = "ip=10.0.0.7,port=6379,state=online,offset=42,lag=0"


@pytest.mark.parametrize("text", ["process", "disk", "replica:1", "replica:12"])
def test_what_is_written_is_read(text: str) -> None:
    """Each form has one spelling."""
    assert str(read_durability(text)) == text


@pytest.mark.parametrize("text", ["", "Disk", "replica", "replica:", "replica:0", "replica:-1", "disk:1", "replica:1 "])
def test_anything_else_is_refused(text: str) -> None:
    """Nobody gets less than they meant to ask for."""
    with pytest.raises(ValueError, match="write process, disk or replica:N"):
        read_durability(text)


@pytest.mark.parametrize(
    ("durability", "reply", "lacks"),
    [
        pytest.param(Durability(disk=True), [1, 0], None, id="the disk has it"),
        pytest.param(Durability(disk=True), [0, 0], "the store's disk does not have it yet", id="it does not"),
        pytest.param(Durability(disk=True), None, "the store's disk does not have it yet", id="no such answer"),
        pytest.param(Durability(replicas=2), 2, None, id="as many replicas as wanted"),
        pytest.param(Durability(replicas=2), 3, None, id="more of them"),
        pytest.param(Durability(replicas=2), 1, "1 of 2 replicas have it", id="fewer"),
        pytest.param(Durability(replicas=2), b"OK", "0 of 2 replicas have it", id="not a number"),
    ],
)
def test_the_number_that_comes_back_is_compared_with_the_one_wanted(
    durability: Durability, reply: object, lacks: str | None
) -> None:
    """A wait is answered when its time is over, too."""
    assert durability.lacks(reply) == lacks


@pytest.mark.parametrize(
    ("durability", "info", "appendfsync", "ok"),
    [
        pytest.param(Durability(disk=True), _VALKEY, "always", True, id="disk, always"),
        pytest.param(Durability(disk=True), _VALKEY, "everysec", False, id="disk, everysec"),
        pytest.param(Durability(disk=True), _VALKEY, "unknown", False, id="disk, CONFIG forbidden"),
        pytest.param(Durability(disk=True), {"redis_version": "7.2.0"}, "always", True, id="disk, Redis 7.2"),
        pytest.param(Durability(disk=True), {"redis_version": "7.0.15"}, "always", False, id="disk, Redis 7.0"),
        pytest.param(Durability(replicas=1), {"slave0": _REPLICA}, "no", True, id="one replica online"),
        pytest.param(Durability(replicas=2), {"slave0": _REPLICA}, "no", False, id="one of two"),
        pytest.param(
            Durability(replicas=1), {"slave0": _REPLICA.replace("online", "wait_bgsave")}, "no", False, id="not in step"
        ),
    ],
)
def test_a_server_that_cannot_give_it_is_unfit(
    durability: Durability, info: dict[str, str], appendfsync: str, ok: bool
) -> None:
    """And is told what to change."""
    check = check_durability(durability, info, appendfsync)

    assert (check.name, check.ok) == ("durability", ok)
    assert check.ok or check.what_to_do


@pytest.mark.parametrize(("wanted", "advised"), [(1, True), (2, False)])
def test_who_waits_for_some_of_the_replicas_is_told_what_that_leaves_open(wanted: int, advised: bool) -> None:
    """One of them is promoted, and the former primary goes on with the others until it is told."""
    check = check_durability(Durability(replicas=wanted), {"slave0": _REPLICA, "slave1": _REPLICA}, "no")

    assert check.ok
    assert ("use replica:2" in check.what_to_do) is advised
