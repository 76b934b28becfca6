"""`{present: true}` in the place of a value."""

from pathlib import Path

import pytest

from gateway.policy.condition import PresenceCondition
from tests.policy.asking import HEAD, rules


@pytest.mark.parametrize(
    ("when", "shown"),
    [
        ("query: {a: {present: true}}", "presence of query a"),
        ("header: {X-A: {present: true}}", "presence of header x-a"),
        ("json: {/a/b: [{present: true}]}", "presence of json /a/b"),
        ("form: {a: {present: true}}", "presence of form a"),
    ],
)
def test_a_closed_request_may_be_told_by_a_name(tmp_path: Path, when: str, shown: str) -> None:
    """In each part of a request that has names."""
    (closed,) = rules(tmp_path, f"{HEAD}closed: [{{match: PUT /a, when: {{{when}}}}}]\n").closed
    (condition,) = closed.matcher.conditions

    assert isinstance(condition, PresenceCondition)
    assert str(condition) == shown


def test_the_word_is_a_value_as_any_other(tmp_path: Path) -> None:
    """Text that says `present` is text."""
    (closed,) = rules(tmp_path, f"{HEAD}closed: [{{match: PUT /a, when: {{query: {{a: present}}}}}}]\n").closed

    assert [condition.values for condition in closed.matcher.conditions] == [frozenset({"present"})]
