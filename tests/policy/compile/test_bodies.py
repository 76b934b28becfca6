"""Which types of bodies an upstream is sent: three kinds have names, the others are written out."""

from pathlib import Path

import pytest

from gateway.core.rule import JSON_TYPES
from gateway.policy.compile.bodies import parse_body
from gateway.policy.finding import Wrong
from tests.policy.asking import HEAD, rules

API = b"application/vnd.api+json"
FORM = b"application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("written", "compiled"),
    [
        ("any", None),
        ("[]", frozenset()),
        ("[json]", JSON_TYPES | {API}),
        ("[form, multipart]", {FORM, b"multipart/form-data"}),
        ("json", JSON_TYPES | {API}),
        ("[application/json]", JSON_TYPES),
        ("[text/csv, Application/PDF]", {b"text/csv", b"application/pdf"}),
        ("[multipart/related]", {b"multipart/related"}),
    ],
)
def test_kinds_and_types(tmp_path: Path, written: str, compiled: frozenset[bytes] | None) -> None:
    """`json` is all that the API reads as JSON; `any`, which is the default, is no list."""
    policy = f"{HEAD}mount: {{bodies: {written}}}\njson_types: [{API.decode()}]\n"

    assert rules(tmp_path, policy).upstreams[0].mount.bodies == compiled


def test_an_api_is_sent_any_body_unless_the_mount_says_otherwise(tmp_path: Path) -> None:
    """As before there was a list."""
    assert rules(tmp_path, HEAD).upstreams[0].mount.bodies is None


@pytest.mark.parametrize("name", ["", "xml", "JSON", "*/*", "text/*", "text/csv; charset=utf-8", "text/cs\u00fc"])
def test_a_type_is_written_as_clients_send_it(name: str) -> None:
    """Whole, without parameters."""
    assert isinstance(parse_body(name, JSON_TYPES), Wrong)
