"""What an upstream reads as JSON is named exactly."""

from pathlib import Path

import pytest

from gateway.policy.compile.json_types import parse_json_type
from gateway.policy.finding import Wrong
from tests.policy.asking import HEAD, rules


@pytest.mark.parametrize(
    ("line", "types"),
    [
        ("", {b"application/json"}),
        ("json_types: application/vnd.api+json\n", {b"application/json", b"application/vnd.api+json"}),
        ("json_types: [Text/X-JSON, application/json]\n", {b"application/json", b"text/x-json"}),
    ],
    ids=["none", "one", "two"],
)
def test_application_json_is_always_one(tmp_path: Path, line: str, types: set[bytes]) -> None:
    """Others are added to it, in lower case."""
    assert rules(tmp_path, HEAD + line).upstreams[0].json_types == types


@pytest.mark.parametrize("name", ["", "json", "*/*", "application/*", "a/b/c", "a/b; c=d", "multipart/x", "a/\u212a"])
def test_what_is_no_exact_type_is_refused(name: str) -> None:
    """Ranges, parameters, forms."""
    assert isinstance(parse_json_type(name), Wrong)
