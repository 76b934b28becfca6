"""The API's answers, each of which says which request it is for: plain ones, rude ones, and some that break off.

In which form one comes is drawn from its request's number, so that the caller's side knows what may have come of it.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.fuzz.reader import Message

_ID = re.compile(rb'"id":([0-9]+|"fencegate-[^"]*")')
# What no caller may be given.
_STRAY = b"HTTP/1.1 409 Conflict\r\nX-Echo: 00\r\nContent-Length: 2\r\n\r\nno"


@dataclass(frozen=True)
class Answer:
    """`closes`: nothing comes behind it on its connection."""

    data: bytes
    closes: bool = False


def answer_to(message: Message) -> Answer:
    number = (message.values(b"x-n") or [b""])[0]
    fields, body = b"Content-Type: application/json\r\nX-Echo: %s\r\n" % number.hex().encode(), _body(message, number)
    if message.method == b"HEAD":
        head = b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n" % (fields, len(body))
        return Answer(head + body if _form(number) is _twice else head)
    return _form(number)(fields, body)


def breaks_off(number: bytes) -> bool:
    """Whether the answer to the request of this number does."""
    return _form(number) is _cut_off


def _form(number: bytes) -> Callable[[bytes, bytes], Answer]:
    return _FORMS[sum(number) % len(_FORMS)]


def _body(message: Message, number: bytes) -> bytes:
    said: dict[str, object] = {"number": number.hex()}
    if message.target.startswith(b"/mcp"):
        found = _ID.search(message.body)
        said = {"jsonrpc": "2.0", "id": json.loads(found[1]) if found else None, "result": said}
    return json.dumps(said).encode()


def _whole(fields: bytes, body: bytes) -> Answer:
    return Answer(b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%b" % (fields, len(body), body))


def _in_chunks(fields: bytes, body: bytes) -> Answer:
    chunks = b"%x;a=b\r\n%b\r\n%x\r\n%b\r\n" % (5, body[:5], len(body) - 5, body[5:])
    trailer = b"0\r\nFencing-Epoch: 1\r\nX-Echo: 00\r\n\r\n"
    return Answer(b"HTTP/1.1 201 Created\r\n" + fields + b"Transfer-Encoding: chunked\r\n\r\n" + chunks + trailer)


def _behind_hints(fields: bytes, body: bytes) -> Answer:
    hints = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX-Echo: 00\r\nLink: </a>\r\n\r\n"
    return Answer(hints + _whole(fields, body).data)


def _until_the_end(fields: bytes, body: bytes) -> Answer:
    head = b"HTTP/1.1 200 OK\r\n" + fields + b"Connection: close, X-Echo-Two\r\nX-Echo-Two: 00\r\n\r\n"
    return Answer(head + body, closes=True)


def _older(fields: bytes, body: bytes) -> Answer:
    head = b"HTTP/1.0 200 OK\r\n" + fields + b"Content-Length: %d\r\n\r\n" % len(body)
    return Answer(head + body, closes=True)


def _twice(fields: bytes, body: bytes) -> Answer:
    return Answer(_whole(fields, body).data + _STRAY)


def _with_the_next_begun(fields: bytes, body: bytes) -> Answer:
    return Answer(_whole(fields, body).data + _STRAY[:20])


def _cut_off(fields: bytes, body: bytes) -> Answer:
    return Answer(_whole(fields, body).data[:-3], closes=True)


# The usual one most often: the others end their connections, or are slower to read.
_FORMS = (
    *(_whole,) * 16,
    *(_in_chunks, _behind_hints) * 2,
    _until_the_end,
    _older,
    _twice,
    _with_the_next_begun,
    _cut_off,
)
