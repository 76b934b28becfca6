"""What a server takes for a format is no part of the value before it."""

import pytest

from gateway.core.format_ending import FormatEndings

NAMED = FormatEndings(frozenset({"json", "xml"}))


@pytest.mark.parametrize(
    ("segment", "any_ending", "named"),
    [
        ("7", False, False),
        ("", False, False),
        ("json", False, False),
        ("7.json", True, True),
        ("7.JSON", True, True),
        ("7.csv", True, False),
        ("7.x-y", True, False),
        ("7.", True, False),
        (".json", True, True),
        ("a.b.xml", True, True),
        ("a.json.b", True, False),
        ("v1.json/7", True, False),
    ],
)
def test_the_last_dot_begins_an_ending(segment: str, any_ending: bool, named: bool) -> None:
    """Whatever follows it where no endings are named: Spring's suffix patterns take an empty one, Rails any text."""
    assert FormatEndings().has(segment) is any_ending
    assert NAMED.has(segment) is named
