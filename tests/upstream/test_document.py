"""A document from a URL: whole and from that very place, or not at all."""

from collections.abc import AsyncIterator

import pytest

from gateway.claims.keyfile import LONGEST
from gateway.claims.keys import KeyFault
from gateway.core.rule import KeyUrl, Origin
from gateway.upstream import document
from gateway.upstream.document import Documents
from gateway.upstream.sender import HttpSender
from tests.recording import RecordingUpstream, answering


def at(port: int, target: str = "/keys") -> KeyUrl:
    return KeyUrl(Origin("http", "127.0.0.1", port), target)


@pytest.fixture
async def documents(sender: HttpSender) -> AsyncIterator[Documents]:
    yield Documents(sender)


async def test_a_document_is_fetched_by_one_plain_get(documents: Documents) -> None:
    """Path and query as they are written; nothing of an agent's request is in it."""
    async with RecordingUpstream(answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")) as there:
        for _ in range(2):
            assert await documents.fetch(at(there.port, "/a%20b/keys?v=1")) == b"{}"

        assert there.seen[0].head.split(b"\r\n")[:3] == [
            b"GET /a%20b/keys?v=1 HTTP/1.1",
            b"Host: 127.0.0.1:%d" % there.port,
            b"Accept: application/json",
        ]
        assert (len(there.seen), there.connections) == (2, 1)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (b"HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n", "answered 302"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "answered 404"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}", "closed"),
        (b"nonsense\r\n\r\n", ""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % (LONGEST + 1) + b" " * (LONGEST + 1), "longer than"),
    ],
    ids=["a redirect", "not there", "broken off", "no HTTP", "too large"],
)
async def test_anything_else_is_a_fault(answer: bytes, says: str, documents: Documents) -> None:
    """No redirect is followed: whoever sends one could choose the keys."""
    async with RecordingUpstream(answering(answer, close=True)) as there:
        fault = await documents.fetch(at(there.port))

        assert isinstance(fault, KeyFault)
        assert says in fault.why
        assert len(there.seen) == 1


async def test_nobody_there_is_a_fault(documents: Documents) -> None:
    """Said in the system's words."""
    assert isinstance(await documents.fetch(at(1)), KeyFault)


@pytest.mark.parametrize(
    "begun", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"], ids=["no head", "half a body"]
)
async def test_a_slow_answer_is_given_up(begun: bytes, documents: Documents, monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes wait for it."""
    monkeypatch.setattr(document, "_WITHIN_S", 0.1)

    async with RecordingUpstream(answering(begun)) as there:
        fault = await documents.fetch(at(there.port))

        assert isinstance(fault, KeyFault)
