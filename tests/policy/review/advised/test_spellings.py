"""Rules that make one resource of values in different forms."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.spellings import loose_spellings
from tests.policy.asking import HEAD, rules


@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        ("x/{path.id}', values: integer", "x/{path.id}'", [(5, "integer")]),
        ("x/{path.id}'", "x/{path.id}', values: word", [(4, "word")]),
        ("x/{path.id}', values: word", "x/{json:/id}', values: integer", [(4, "integer")]),
        ("x/{path.id}', values: word", "x/{path.id}', values: word", []),
        ("x/{path.id}', values: base64", "x/{path.id}'", [(5, "base64")]),
        ("x/{path.id}', values: uppercase", "x/{path.id}', values: word", [(5, "uppercase")]),
        ("x/{path.id}', values: [a, b]", "x/{path.id}', values: word", [(5, "[a, b]")]),
        ("x/{path.id}', values: word", "y/{path.id}'", []),
        ("x/{path.id}/a', values: word", "x/{path.id}'", []),
        ("x'", "x'", []),
    ],
    ids=[
        "behind",
        "before",
        "another place",
        "alike",
        "base64",
        "uppercase",
        "a list",
        "another resource",
        "another shape",
        "no values",
    ],
)
def test_rules_of_one_resource_take_the_same_spellings(
    tmp_path: Path, one: str, other: str, told: list[tuple[int, str]]
) -> None:
    """Or `07` is a resource of its own to one of them, and the same thing to the API."""
    policy = (
        f"{HEAD}writes:\n"
        f"  - {{name: one, match: 'PUT /x/{{id}}', resource: '{one}}}\n"
        f"  - {{name: two, match: 'POST /x/{{id}}', resource: '{other}}}\n"
    )
    found = list(loose_spellings(rules(tmp_path, policy)))

    assert [(each.line, each.message.partition("values: ")[2].partition("`")[0]) for each in found] == told
