"""Which schemes prove who a connection's sender is, and which a request's."""

import asyncio

import pytest

from gateway.core.outcome import NoReply, NotSent, Overdue
from gateway.core.request import Headers
from gateway.upstream.connection_auth import authenticates_connection, wants_connection_authenticated
from gateway.upstream.sender import HttpSender
from tests.recording import RecordingUpstream, Seen, answering
from tests.upstream.given import Given, request, send, upstream_at

OF_A_CONNECTION = [b"NTLM TlRMTVNT", b"ntlm TlRMTVNT", b"NTLM\tTlRMTVNT", b"Negotiate YII", b"NEGOTIATE", b"Nego2 YII",
                   b"CredSSP MDA", b"Kerberos YII"]  # fmt: skip
OF_A_REQUEST = [b"Basic bmVnbzpudGxt", b"Bearer negotiate", b"Digest username=ntlm", b""]


@pytest.mark.parametrize("value", OF_A_CONNECTION, ids=bytes.decode)
def test_a_connections_scheme_is_told_in_any_case(value: bytes) -> None:
    """In a request's field, the second one too, and among an answer's challenges."""
    assert authenticates_connection(Headers(((b"AUTHORIZATION", value),)))
    assert authenticates_connection(Headers(((b"Authorization", b"Basic x"), (b"authorization", value))))
    for challenges in (value, b"Basic realm=a," + value, b'Basic realm="a", ' + value):
        assert wants_connection_authenticated(((b"Date", b"x"), (b"www-AUTHENTICATE", challenges)))


@pytest.mark.parametrize("value", OF_A_REQUEST, ids=["basic", "bearer", "digest", "none"])
def test_a_requests_scheme_binds_no_connection(value: bytes) -> None:
    """Whatever it proves is proved once for each request."""
    assert not authenticates_connection(Headers(((b"Authorization", value),)))
    assert not wants_connection_authenticated(((b"WWW-Authenticate", value), (b"X-NTLM", b"NTLM")))


def test_a_request_without_credentials_binds_no_connection() -> None:
    """The usual case."""
    assert not authenticates_connection(Headers(((b"X", b"NTLM"),)))
    assert not wants_connection_authenticated(())


async def whole(sender: HttpSender, port: int, *fields: tuple[bytes, bytes], piecewise: bool = False) -> int:
    body = Given(b"x", length=1) if piecewise else Given(b"x", whole=True, length=1)
    answer = await send(sender, upstream_at(port), request("PUT", "/reports/7", *fields), body)
    assert not isinstance(answer, Overdue | NotSent | NoReply)
    await answer.read_small(100)
    answer.close()
    return answer.status


@pytest.mark.parametrize("piecewise", [False, True], ids=["whole", "in pieces"])
async def test_a_connection_whose_sender_is_known_is_no_others(sender: HttpSender, piecewise: bool) -> None:
    """The upstream is told that the request is the connection's last; one without such a proof goes on another."""
    async with RecordingUpstream() as upstream:
        for fields in ((), ((b"Authorization", b"NTLM x"),), (), ((b"Authorization", b"Basic x"),)):
            assert await whole(sender, upstream.port, *fields, piecewise=piecewise) == 200

    assert [seen.connection for seen in upstream.seen] == [1, 1, 2, 2]
    assert [seen.values("Connection") for seen in upstream.seen] == [[], ["close"], [], []]


async def test_a_connection_that_waits_for_a_proof_is_no_others(sender: HttpSender) -> None:
    """Its upstream may be in the middle of a conversation; a refusal that asks for another proof keeps it."""
    asked = b"HTTP/1.1 401 X\r\nContent-Length: 0\r\nWWW-Authenticate: "

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        scheme = b"Negotiate" if len(upstream.seen) == 2 else b"Basic realm=x"
        await answering(asked + scheme + b"\r\n\r\n")(seen, writer)

    async with RecordingUpstream(answer) as upstream:
        for _ in range(3):
            assert await whole(sender, upstream.port) == 401

    assert [seen.connection for seen in upstream.seen] == [1, 1, 2]
