"""What the doctor says of sentinels and clusters."""

import pytest

from gateway.core.address import Address
from gateway.store.links.sentinel import Named
from gateway.store.links.topology_doctor import examine_topology, judge_announcements, judge_sentinels
from tests.store.fences import opened
from tests.store.topology.cluster import ClusterOfNodes

_FIRST, _OTHER = Address("10.0.0.1", 6379), Address("10.0.0.2", 6379)


def named(primary: Address = _FIRST, *, quorum: int = 2, others: int = 2, replicas: int = 1) -> Named:
    return Named(primary, 1, False, quorum, others, replicas)


@pytest.mark.parametrize(
    ("told", "sentinels_ok", "todo", "standby"),
    [
        ([named()] * 3, True, "", ""),
        ([named()] * 2, True, "do not answer", ""),
        ([named(others=1)] * 3, True, "three sentinels", ""),
        ([named(quorum=4)] * 3, True, "quorum of more than half", ""),
        ([named(), named(), named(_OTHER)], False, "network", ""),
        ([named(replicas=0)] * 3, True, "", "Add a replica"),
    ],
    ids=[
        "three that agree",
        "one is away",
        "two know each other",
        "a quorum that is never reached",
        "they disagree",
        "nothing to promote",
    ],
)
def test_what_is_said_of_sentinels(told: list[Named], sentinels_ok: bool, todo: str, standby: str) -> None:
    """Two primaries are an error; what only costs time at a failover is told."""
    sentinels, replicas = judge_sentinels(told, 3)

    assert (sentinels.ok, todo in sentinels.what_to_do, bool(sentinels.what_to_do)) == (sentinels_ok, True, bool(todo))
    assert (replicas.ok, standby in replicas.what_to_do, bool(replicas.what_to_do)) == (True, True, bool(standby))


def test_sentinels_that_are_away_are_the_one_finding() -> None:
    """With what to do."""
    (check,) = judge_sentinels([], 3)

    assert not check.ok and check.what_to_do


def test_announcements_that_are_forbidden_are_told() -> None:
    """Which sentinels, which rights, and what it costs; the store can be used all the same."""
    heard, forbidden = judge_announcements([]), judge_announcements([Address("10.0.0.9", 26379)])

    assert heard.ok and not heard.what_to_do
    assert forbidden.ok and "10.0.0.9:26379" in forbidden.saw and "half a second" in forbidden.saw
    assert "SUBSCRIBE" in forbidden.what_to_do and "+switch-master" in forbidden.what_to_do


async def test_each_node_of_a_cluster_is_asked(cluster: ClusterOfNodes) -> None:
    """By its name."""
    async with opened(cluster.url) as store:
        checks = await examine_topology(store.link)

    assert [check.name for check in checks] == sorted(f"cluster ({node.address})" for node in cluster.primaries)
    assert all(check.ok for check in checks)


async def test_nothing_is_said_of_one_server(store_url: str) -> None:
    """It has nobody to stand in for it."""
    async with opened(store_url) as store:
        assert await examine_topology(store.link) == []
