"""What a GraphQL server's refusal by status says of its operation."""

import gzip
import json

import pytest

from gateway.policy.reading.graphql_answer import MOST, RefusalReader, may_be_operation

EARLY = b'{"errors": [{"message": "no such field", "locations": [{"line": 1, "column": 2}]}]}'
LATE = b'{"errors": [{"message": "no", "path": ["pay", "id"]}]}'


def proves(*pieces: bytes | None, coding: bytes = b"", kind: bytes = b"application/json") -> bool:
    reader = RefusalReader(((b"Content-Type", kind), *(((b"Content-Encoding", coding),) if coding else ())))
    for piece in pieces:
        reader.add(piece)
    return reader.proves_something


@pytest.mark.parametrize(
    ("body", "proved"),
    [
        (EARLY, True),
        (b'{"errors": []}', True),
        (b'{"errors": [{"message": "x", "path": null}]}', True),
        (b'{"message": "Bad credentials"}', True),
        (b"", True),
        (b'"data"', True),
        (b"[" * 100_000, False),
        (b"<html>", False),
        (LATE, False),
        (b'{"errors": [{"message": "x"}, {"message": "y", "path": ["b"]}]}', False),
        (b'{"data": null, "errors": [{"message": "x"}]}', False),
        (b'{"data": {"a": {"id": 1}, "b": null}, "errors": [{"message": "x", "path": ["b"]}]}', False),
        (b'[{"errors": [{"message": "x"}]}, {"data": {"a": 1}}]', False),
    ],
)
def test_only_what_came_before_any_field_proves_that_none_has_acted(body: bytes, proved: bool) -> None:
    """An error of a field has its path, what was begun has `data`; what is no GraphQL is by who stands before it."""
    assert proves(body) is proved
    assert proves(*(body[at : at + 1] for at in range(min(len(body), 200))), body[200:]) is proved


def test_what_cannot_be_read_proves_nothing() -> None:
    """Larger than is held, or in a coding that cannot be undone."""
    assert not proves(None)
    assert not proves(b" " * MOST, b"x")
    assert not proves(EARLY, None)
    assert not proves(EARLY, coding=b"br")
    assert not proves(EARLY, coding=b"gzip")
    assert proves(gzip.compress(EARLY), coding=b"gzip")
    assert not proves(gzip.compress(LATE), coding=b"gzip")


@pytest.mark.parametrize(
    ("kind", "proved"),
    [
        (b"text/html; charset=utf-8", True),
        (b"TEXT/plain", True),
        (b"application/problem+json", True),
        (b"multipart/mixed; boundary=-", False),
        (b"text/event-stream", False),
        (b"application/graphql-response+json", False),
        (b"", False),
    ],
)
def test_what_is_no_json_is_a_page_or_may_be_an_answer(kind: bytes, proved: bool) -> None:
    """Servers answer in parts, and in events, where their clients ask for that."""
    assert proves(b"---\r\n\r\n" + LATE, kind=kind) is proved


@pytest.mark.parametrize(
    ("body", "is_one"),
    [
        (json.dumps({"query": "mutation { undo }"}).encode(), True),
        (b'{"query": {"a": 1}}', False),
        (b'{"a": 1}', False),
        (b"[]", False),
        (b"query=x", False),
        (b"", False),
        (b"[" * 100_000, False),
    ],
)
def test_what_takes_a_write_back_may_be_an_operation(body: bytes, is_one: bool) -> None:
    """No rule reads it."""
    assert may_be_operation(body) is is_one
