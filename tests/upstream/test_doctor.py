"""Whether an upstream can be written past the gateway is told by one read without credentials."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.check import Check
from gateway.core.rule import Mount, Origin, Tls, Upstream
from gateway.core.target import Target, read_target
from gateway.flow.clock import BootClock
from gateway.serve.tls import TlsFiles
from gateway.upstream.doctor import examine_upstreams
from gateway.upstream.sender import HttpSender
from tests.certificates import Authority
from tests.recording import RecordingUpstream, answering
from tests.upstream.given import upstream_at

KEY = ((b"Authorization", b"Bearer s3cret"),)


def probe(text: str = "/reports") -> Target:
    target = read_target(text)
    assert isinstance(target, Target)
    return target


async def examine(*upstreams: Upstream) -> list[Check]:
    sender = HttpSender(BootClock())
    try:
        return await examine_upstreams(upstreams, sender)
    finally:
        sender.close()


@pytest.mark.parametrize(
    ("status", "credentials", "ok", "saw"),
    [
        (401, KEY, True, "answers 401 without the gateway's credentials"),
        (403, KEY, True, "answers 403 without the gateway's credentials"),
        (401, (), False, "answers 401 and wants credentials, of which its policy has none: agents have them"),
        (200, KEY, False, "answers 200 without credentials: it can be written past the gateway"),
        (204, (), False, "answers 204 without credentials: it can be written past the gateway"),
        (302, KEY, False, "answers 302 without credentials, which tells nothing"),
        (404, KEY, False, "answers 404 without credentials, which tells nothing"),
        (500, KEY, False, "answers 500 without credentials, which tells nothing"),
    ],
)
async def test_an_answer_is_judged_by_its_status(
    status: int, credentials: tuple[tuple[bytes, bytes], ...], ok: bool, saw: str
) -> None:
    """Only a refusal of whoever has no credentials is good, and only where the gateway has some."""
    async with RecordingUpstream(answering(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status)) as upstream:
        (check,) = await examine(upstream_at(upstream.port, credentials=credentials, probe=probe()))

    assert (check.name, check.ok) == ("upstream u", ok)
    assert check.saw.startswith(saw)
    assert bool(check.what_to_do) is not ok


@pytest.mark.parametrize("credentials", [KEY, ()], ids=["the gateway's own", "the agents'"])
async def test_an_api_that_takes_a_connections_proof_is_named(credentials: tuple[tuple[bytes, bytes], ...]) -> None:
    """It is no way for agents; where the gateway has a credential of its own, nobody needs it."""
    asks = b"HTTP/1.1 401 X\r\nContent-Length: 0\r\nWWW-Authenticate: Negotiate, NTLM\r\n\r\n"
    async with RecordingUpstream(answering(asks)) as upstream:
        (check,) = await examine(upstream_at(upstream.port, credentials=credentials, probe=probe()))

    assert "it takes NTLM or Negotiate" in check.saw
    assert check.ok is bool(credentials)
    assert ("credential of another kind" in check.what_to_do) is not check.ok


async def test_it_is_asked_once_by_a_get_with_nothing_of_the_gateways() -> None:
    """At the path as agents spell it, forwarded as theirs would be."""
    async with RecordingUpstream() as upstream:
        mounted = Mount(("api",), "api.internal", strip=True)
        fields = {"mount": mounted, "base_path": "/v1", "preserve_host": True, "probe": probe("/api/me?a=1")}
        await examine(upstream_at(upstream.port, credentials=KEY, **fields))

    (seen,) = upstream.seen
    assert seen.line == "GET /v1/me?a=1 HTTP/1.1"
    assert seen.values("host") == ["api.internal"]
    assert b"s3cret" not in seen.raw and seen.body == b""


async def test_one_that_needs_no_asking_is_not_asked() -> None:
    """`probe: off` says that the network keeps others out."""
    async with RecordingUpstream() as upstream:
        (check,) = await examine(upstream_at(upstream.port))

    assert (check.ok, upstream.connections) == (True, 0)
    assert "probe: off" in check.saw


async def test_one_that_cannot_be_reached_is_told(unused_tcp_port: int) -> None:
    """And does not keep the others from being asked."""
    async with RecordingUpstream(answering(b"", close=True)) as upstream:
        checks = await examine(
            upstream_at(unused_tcp_port, probe=probe()), replace(upstream_at(upstream.port, probe=probe()), name="v")
        )

    assert [(check.name, check.ok, check.saw.partition(":")[0]) for check in checks] == [
        ("upstream u", False, "unreachable"),
        ("upstream v", False, "no answer"),
    ]


async def test_a_client_certificate_is_a_credential_too(tmp_path: Path) -> None:
    """It is left out like the others; an upstream that breaks off without it is well guarded."""
    authority = Authority(tmp_path)
    cert, key = map(str, authority.issue("upstream"))
    ours = map(str, authority.issue("gateway"))
    files = TlsFiles(cert, key, str(authority.ca))
    server = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=files.context())
    async with server:
        origin = Origin("https", "localhost", server.sockets[0].getsockname()[1])
        tls = Tls(True, str(authority.ca), *ours)
        (check,) = await examine(Upstream("u", origin, tls=tls, probe=probe()))

    assert (check.ok, check.saw) == (True, "breaks off without the gateway's certificate")
