"""Quotas: the name under which a lease counts."""

from itertools import combinations

from gateway.core.quota import lease_entry

SECRET, OTHER = b"d" * 16, b"e" * 16


def test_a_lease_counts_under_a_name_of_its_own() -> None:
    """Resource, epoch and secret each tell it apart, wherever one ends and the next begins."""
    names = [
        lease_entry("report/7", 43, SECRET),
        lease_entry("report/8", 43, SECRET),
        lease_entry("report/7", 42, SECRET),
        lease_entry("report/7", 43, OTHER),
        lease_entry("dreport/7", 43, SECRET),
        lease_entry("report/7", 4, b"3." + SECRET[2:]),
    ]

    assert all(one != other for one, other in combinations(names, 2))
    assert lease_entry("report/7", 43, SECRET) == names[0]
