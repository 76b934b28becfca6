"""How values are spelled in a resource."""

import pytest

from gateway.policy.escape import escaped, escaped_path, escapes, unescaped


@pytest.mark.parametrize("segments", [("a",), ("a", "é ü", "b.c"), ("a/b", "c"), ("100%", "c"), ("a", "\x85"), ()])
def test_a_path_is_its_segments_each_escaped(segments: tuple[str, ...]) -> None:
    """Whether all of it is told at once to need no escape, or each segment is looked at."""
    assert escaped_path(segments) == "/".join(escaped(segment) for segment in segments)


@pytest.mark.parametrize("value", ["a", "a/b", "100%", "a\0b", "\x85", "\u00e9", "%2F", "a:b"])
def test_what_was_escaped_is_found_again(value: str) -> None:
    """And nothing else is the spelling of a value: neither another escape of it, nor one that is not UTF-8."""
    assert unescaped(escaped(value)) == value
    assert unescaped(escaped(value, escapes(":")), escapes(":")) == value
    for other in ("%61", "%2f", "%", "%C3", "a/b", "a\0"):
        assert unescaped(other) is None
