"""Resources apart by who calls."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.tenants import apart_by_caller
from tests.policy.asking import one_rule, rules


@pytest.mark.parametrize(
    ("match", "resource", "warned"),
    [
        ("PUT /x/{id}", "x/{tenant}/{path.id}", "tenant"),
        ("PUT /x/{id}", "x/{principal}/{path.id}", "principal"),
        ("PUT /t/{tenant}/{id}", "x/{tenant}/{path.id}", "tenant"),
        ("PUT /t/{tenant}/{id}", "x/{tenant}/{path.tenant}/{path.id}", None),
        ("PUT /t/{tenant}/{id}", "x/{path.tenant}/{path.id}", None),
        ("PUT /x/{id}", "x/{tenant}/{json:/tenant}/{path.id}", None),
        ("PUT /x/{id}", "x/{path.id}", None),
    ],
    ids=["tenant", "principal", "not the request's", "both", "the request's", "in the body", "nobody"],
)
def test_a_caller_in_a_resource_that_the_api_does_not_know(
    tmp_path: Path, match: str, resource: str, warned: str | None
) -> None:
    """To an API with one credential it is one thing, which two callers would write under two fences."""
    found = list(apart_by_caller(rules(tmp_path, one_rule(match, resource))))

    assert [f"has `{{{warned}}}` in its resource" in one.message for one in found] == ([True] if warned else [])
