"""Encoded slashes with nothing on one of their sides: text of a pattern, or refused."""

import pytest

from gateway.core.rule import Mount
from gateway.core.target import Target, read_target
from gateway.policy.lenient.encoded_slash import has_half_slash, names_slashes, slash_fault
from gateway.policy.pattern import Pattern, parse_pattern

REFUSES, TAKES = Mount(("q",)), Mount(("q",), encoded_slash="opaque")


def pattern(path: str) -> Pattern:
    parsed = parse_pattern(f"PUT {path}")
    assert isinstance(parsed, Pattern)
    return parsed


def target(path: str) -> Target:
    read = read_target(path)
    assert isinstance(read, Target)
    return read


@pytest.mark.parametrize(
    ("path", "is_half"),
    [
        ("/q/a%2Fb", False),
        ("/q/%2F", False),
        ("/q/%2F/b", False),
        ("/q/a%2F", True),
        ("/q/%2Fa", True),
        ("/q/a%2F%2Fb", True),
        ("/q/%2F%2F", True),
        ("/q/%2F/a%2F", True),
        ("/q/", False),
    ],
)
def test_a_slash_is_between_texts_or_a_segment(path: str, is_half: bool) -> None:
    """Else servers differ in what is left."""
    assert has_half_slash(target(path)) is is_half


@pytest.mark.parametrize(
    ("taker", "path", "names"),
    [
        ("/q/%2F/{name}", "/q/%2F/a", True),
        ("/q/{host}/{name}", "/q/%2F/a", False),
        ("/q/{host}/{name}", "/q/a%2Fb/c", True),
        ("/q/%2F/{rest...}", "/q/%2F/a/%2F", False),
        ("/q/{rest...}", "/q/%2F", False),
    ],
)
def test_a_segment_that_is_a_slash_is_text(taker: str, path: str, names: bool) -> None:
    """No placeholder takes it."""
    assert names_slashes(pattern(taker), target(path)) is names


@pytest.mark.parametrize(
    ("path", "mount", "why"),
    [
        ("/q/%2F/{name}", TAKES, None),
        ("/q/a%2Fb", TAKES, None),
        ("/q/%2F/{name}", REFUSES, "write `encoded_slash: opaque`"),
        ("/q/a%2Fb", REFUSES, "write `encoded_slash: opaque`"),
        ("/q/a%2F", TAKES, "is no whole segment"),
        ("/q/{name}", REFUSES, None),
    ],
)
def test_text_that_no_write_has_is_a_fault(path: str, mount: Mount, why: str | None) -> None:
    """By what the mount says of slashes, and by what passes nowhere."""
    fault = slash_fault(pattern(path), mount)

    assert (fault is None) if why is None else why in str(fault)
