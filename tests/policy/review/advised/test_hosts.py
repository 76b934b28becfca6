"""The host that agents name, where it is passed on."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.hosts import any_host
from tests.policy.asking import one_rule, rules


@pytest.mark.parametrize(
    ("more", "warned"),
    [
        ("host: preserve\n", True),
        ("host: preserve\nmount: {host: a.example}\n", False),
        ("host: url\n", False),
        ("", False),
    ],
    ids=["any host", "one host", "the upstream's", "by default"],
)
def test_any_host_has_one_fence(tmp_path: Path, more: str, warned: bool) -> None:
    """An API with several sites would be written in all of them under one resource."""
    found = list(any_host(rules(tmp_path, one_rule() + more)))

    assert ["several sites" in one.message for one in found] == ([True] if warned else [])
