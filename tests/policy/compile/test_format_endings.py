"""Which endings of a path are formats is the mount's to say."""

from pathlib import Path

import pytest

from gateway.core.format_ending import FormatEndings
from gateway.policy.compile.format_endings import parse_ending
from gateway.policy.finding import Wrong
from tests.policy.asking import HEAD, rules


@pytest.mark.parametrize(
    ("written", "compiled"),
    [
        ("opaque", None),
        ("refuse", FormatEndings()),
        ("[json]", FormatEndings(frozenset({"json"}))),
        ("[JSON, xml]", FormatEndings(frozenset({"json", "xml"}))),
    ],
)
def test_any_ending_or_only_those_that_are_listed(tmp_path: Path, written: str, compiled: FormatEndings | None) -> None:
    """In lower case; `opaque`, which is the default, says that a dot is a character like any other."""
    mount = rules(tmp_path, f"{HEAD}mount: {{format_endings: {written}}}\n").upstreams[0].mount

    assert mount.format_endings == compiled


def test_a_dot_is_a_character_unless_the_mount_says_otherwise(tmp_path: Path) -> None:
    """Most APIs have no formats in their paths."""
    assert rules(tmp_path, HEAD).upstreams[0].mount.format_endings is None


@pytest.mark.parametrize("name", ["", ".json", "tar.gz", "a b", "a/b", "js\u00f6n"])
def test_an_ending_is_what_follows_the_last_dot(name: str) -> None:
    """In characters that need no escape."""
    assert isinstance(parse_ending(name), Wrong)
