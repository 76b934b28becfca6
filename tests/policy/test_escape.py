"""How values are spelled in a resource."""

import pytest

from gateway.policy.escape import escaped, escaped_path


@pytest.mark.parametrize("segments", [("a",), ("a", "é ü", "b.c"), ("a/b", "c"), ("100%", "c"), ("a", "\x85"), ()])
def test_a_path_is_its_segments_each_escaped(segments: tuple[str, ...]) -> None:
    """Whether all of it is told at once to need no escape, or each segment is looked at."""
    assert escaped_path(segments) == "/".join(escaped(segment) for segment in segments)
