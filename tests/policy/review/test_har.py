"""HTTP archives, as recorded and as broken."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.review.har import Recorded, read_har

PUT = {"method": "PUT", "url": "https://api.example/a#top", "headers": [{"name": "X", "value": "1"}]}


def read(directory: Path, *requests: Any) -> tuple[Recorded, ...] | Wrong:
    file = directory / "a.har"
    file.write_text(json.dumps({"log": {"entries": [{"request": each, "response": {}} for each in requests]}}))
    return read_har(file)


def test_requests_are_read_in_their_order(tmp_path: Path) -> None:
    """With their headers as sent; the pseudo-headers of HTTP/2 are none, and a fragment is never sent."""
    pseudo = [{"name": ":authority", "value": "api.example"}, {"name": "X", "value": "é"}, "nonsense", {"name": 7}]

    found = read(tmp_path, PUT, {**PUT, "method": "DELETE", "headers": pseudo})

    assert not isinstance(found, Wrong)
    assert [(each.method, each.url) for each in found] == [
        ("PUT", "https://api.example/a"),
        ("DELETE", "https://api.example/a"),
    ]
    assert [each.headers.pairs for each in found] == [((b"X", b"1"),), ((b"X", "é".encode()),)]


@pytest.mark.parametrize(
    ("more", "body"),
    [
        ({}, b""),
        ({"postData": {"mimeType": "application/json", "text": '{"a": 1}'}}, b'{"a": 1}'),
        ({"postData": {"text": base64.b64encode(b"\xff\x00").decode(), "encoding": "base64"}}, b"\xff\x00"),
        ({"postData": {"text": "%", "encoding": "base64"}}, None),
        ({"postData": {"mimeType": "multipart/form-data", "params": []}}, None),
        ({"bodySize": 12}, None),
        ({"bodySize": -1}, b""),
    ],
    ids=["none", "text", "base64", "broken base64", "only its fields", "not kept", "unknown size"],
)
def test_a_body_that_was_not_kept_is_not_an_empty_one(tmp_path: Path, more: dict[str, Any], body: bytes | None) -> None:
    """A rule that reads it cannot be told without it."""
    found = read(tmp_path, PUT | more)

    assert not isinstance(found, Wrong)
    assert found[0].body == body


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\xff", "is not UTF-8"),
        (b'{"log": {"entries": [', "was it cut off?"),
        (b"[" * 100_000, "is nested too deeply"),
        (b"[]", "has no `log.entries`"),
        (b'{"log": {"entries": {}}}', "has no `log.entries`"),
        (b'{"log": {"entries": [7]}}', "entry 0 of `log.entries`"),
        (b'{"log": {"entries": [{"request": {"method": "PUT", "url": "/a"}}]}}', "entry 0 of `log.entries`"),
    ],
    ids=["bytes", "cut off", "deep", "no archive", "no list", "no entry", "no absolute URL"],
)
def test_what_is_no_archive_is_told_in_one_line(tmp_path: Path, content: bytes, message: str) -> None:
    """Never a traceback, and never half of the traffic."""
    (tmp_path / "a.har").write_bytes(content)

    for found in (read_har(tmp_path / "a.har"), read_har(tmp_path / "none.har")):
        assert isinstance(found, Wrong)
        assert "\n" not in found.message
    assert message in getattr(read_har(tmp_path / "a.har"), "message", "")
