"""Heads that are refused although a parser lets them through."""

import pytest

from gateway.core.framing import head_fault
from gateway.core.request import Headers

HANDSHAKE = (
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
)


def fault(method: str, *fields: tuple[str, str], is_http_10: bool = False) -> str | None:
    headers = Headers((name.encode(), value.encode()) for name, value in fields)
    return head_fault(method, headers, is_http_10=is_http_10)


@pytest.mark.parametrize(
    ("method", "fields"),
    [
        pytest.param("GET", (), id="a read"),
        pytest.param("GET", (("Content-Length", "0"),), id="a read without a body, announced"),
        pytest.param("PUT", (("Host", "a:80"), ("Content-Length", "3"), ("Connection", "close, X-A")), id="a write"),
        pytest.param("POST", (("Transfer-Encoding", " Chunked "),), id="a body in chunks"),
        pytest.param("DELETE", (("Content-Length", "3"),), id="a DELETE with a body"),
        pytest.param("GET", HANDSHAKE, id="a handshake"),
    ],
)
def test_a_sound_head_passes(method: str, fields: tuple[tuple[str, str], ...]) -> None:
    """Whatever else is in it is not framing."""
    assert fault(method, *fields) is None


@pytest.mark.parametrize(
    ("method", "fields", "why"),
    [
        ("CONNECT", (), "no tunnel"),
        ("TRACE", (), "TRACE"),
        ("PUT", HANDSHAKE, "is a GET"),
        ("GET", (("Upgrade", "h2c"),), "WebSocket"),
        ("PUT", (("Connection", "close, Content-Type"),), "Connection names Content-Type"),
        ("PUT", (("Connection", "content_type"),), "Connection names Content-Type"),
        ("PUT", (("Connection", "Content.Type"),), "Connection names Content-Type"),
        ("PUT", (("Transfer-Encoding", "gzip, chunked"),), "only transfer coding"),
        ("PUT", (("Content-Length", "+3"),), "not a length"),
        ("PUT", (("Content-Length", "3"), ("Content-Length", "3")), "told twice"),
        ("PUT", (("Content-Length", "3"), ("Transfer-Encoding", "chunked")), "told twice"),
        ("GET", (("Content-Length", "3"),), "has no body here"),
        ("HEAD", (("Transfer-Encoding", "chunked"),), "has no body here"),
        ("PUT", (("Host", "a/b"),), "neither a name nor an IP address"),
        ("PUT", (("Host", "a.example%2e"),), "neither a name nor an IP address"),
        ("PUT", (("Host", "a.example,x"),), "neither a name nor an IP address"),
        ("PUT", (("Host", "a"), ("Host", "a")), "Host was sent twice"),
    ],
    ids=[
        *("a tunnel", "a loop back", "a handshake that writes", "another protocol", "a type taken away"),
        *("with an underscore", "with a dot", "a coding below chunked", "a signed length", "two lengths"),
        *("a length and chunks", "a read with a body", "a read in chunks", "no host"),
        *("a host with an escape", "a list of hosts", "two hosts"),
    ],
)
def test_a_head_with_two_readings_is_refused(method: str, fields: tuple[tuple[str, str], ...], why: str) -> None:
    """With what is wrong, in the words of the one who has to mend it."""
    assert why in (fault(method, *fields) or "")


@pytest.mark.parametrize("fields", [(("Transfer-Encoding", "chunked"),), HANDSHAKE], ids=["chunks", "a handshake"])
def test_http_10_knows_neither_chunks_nor_handshakes(fields: tuple[tuple[str, str], ...]) -> None:
    """RFC 9112, section 6.1, and RFC 6455, section 4.1."""
    method = "GET" if fields == HANDSHAKE else "PUT"

    assert fault(method, *fields) is None
    assert fault(method, *fields, is_http_10=True) is not None
