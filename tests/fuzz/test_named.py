"""The second reading of bodies and queries: an oracle that takes what it should not finds nothing."""

import gzip

import pytest

from tests.fuzz.named import by_field, form_of, note_of, task_of
from tests.fuzz.reader import Message

_WRITE = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"write","arguments":{"note":"n1"}}}'
_PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'


def posted(body: bytes, *fields: tuple[bytes, bytes], type: bytes = b"application/json") -> Message:
    return Message(b"POST", b"/", ((b"Content-Type", type), *fields), body)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b"id=f1", b"f1"),
        (b"a=1&i%64=f1&b=%zz", b"f1"),
        (b"id=f1&id=f1", None),
        (b"id=f1&ID=f2", None),
        (b"id=f1&id[]=f2", None),
        (b"id=f1&+id=f2", None),
        (b"id=f1;id=f2", None),
        (b"id=f1&id%00=f2", None),
        (b"id=f1%00", None),
        (b"id=", None),
        (b"", None),
    ],
)
def test_a_field_is_named_once(text: bytes, named: bytes | None) -> None:
    """In whatever spelling, for whoever splits at semicolons too."""
    assert by_field(text) == named


def test_a_form_says_that_it_is_one() -> None:
    """Once, uncoded, and without another method in it."""
    form = b"application/x-www-form-urlencoded"

    assert form_of(posted(b"id=f1", type=form)) == b"f1"
    assert form_of(posted(b"id=f1")) is None
    assert form_of(posted(b"id=f1", (b"content-type", form), type=form)) is None
    assert form_of(posted(b"id=f1", (b"Content-Encoding", b"gzip"), type=form)) is None
    assert form_of(posted(b"id=f1&_method=DELETE", type=form)) is None


@pytest.mark.parametrize(
    ("body", "codings", "named"),
    [
        (b'{"id":"t1"}', (), b"t1"),
        (b'{"id":"t1","ID":"t2"}', (), None),
        (b'{"id":"t1","x":NaN}', (), None),
        (b'{"id":1}', (), None),
        (gzip.compress(b'{"id":"t1"}', mtime=0), (b"gzip",), b"t1"),
        (gzip.compress(b'{"id":"t1"}', mtime=0), (b"identity, gzip",), None),
        (gzip.compress(b'{"id":"t1"}', mtime=0), (b"x-gzip",), None),
        (gzip.compress(b'{"id":"t1"}', mtime=0) + b"x", (b"gzip",), None),
        (gzip.compress(b'{"id":"t1"}', mtime=0)[:-1], (b"gzip",), None),
        (b'{"id":"t1"}', (b"gzip",), None),
        (b'{"id":"t1"}', (b"br",), None),
        (gzip.compress(b'{"id":"t1"}', mtime=0), (b"gzip", b"gzip"), None),
    ],
)
def test_a_task_is_named_by_json_that_reads_in_one_way(
    body: bytes, codings: tuple[bytes, ...], named: bytes | None
) -> None:
    """Whole, and coded at most once."""
    assert task_of(posted(body, *((b"Content-Encoding", coding) for coding in codings))) == named


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (_WRITE, b"n1"),
        (_PING, b""),
        (_WRITE.replace(b"write", b"search"), b""),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', b""),
        (b"[" + _PING + b"," + _PING + b"]", b""),
        (b"[" + _PING + b"," + _WRITE + b"]", None),
        (b"[]", None),
        (_WRITE.replace(b"write", b"other"), None),
        (_WRITE.replace(b'"arguments"', b'"task":{},"arguments"'), None),
        (_WRITE.replace(b'"n1"', b'"n1","Note":"n2"'), None),
        (b'{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}', None),
        (b'{"jsonrpc":"2.0","id":1,"error":{}}', None),
        (_PING.replace(b'"ping"', b'"ping","result":{}'), None),
        (_PING.replace(b"2.0", b"1.0"), None),
        (b"", None),
    ],
    ids=[
        *("a write", "a ping", "a reading tool", "an answer to a ping", "a batch that reads", "a write in a batch"),
        *("an empty batch", "another tool", "as a task", "a twin", "an answer that grants", "an error"),
        *("call and answer", "another version", "no body"),
    ],
)
def test_a_message_writes_a_note_or_nothing(body: bytes, note: bytes | None) -> None:
    """None: nobody may send it. `Mcp-Method` says what the body says, where it is there."""
    assert note_of(posted(body)) == note
    assert note_of(posted(body, (b"Mcp-Method", b"resources/list"))) is None or note == b""
