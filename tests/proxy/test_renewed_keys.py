"""Upstreams that renew the keys of a connection, or ask for another handshake on it, while agents write."""

import asyncio
import contextlib
import socket
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.proxy.test_upstream_tls import reloading
from tests.raw import RawAnswer
from tests.recording import OK, RecordingUpstream
from tests.stack import Stack

pytestmark = pytest.mark.slow
# After a command `openssl s_server` says nothing that could be waited for; it is at most this late.
_COMMANDED_S = 0.3


@dataclass
class OpenSsl:
    """`openssl s_server`, whose standard input is what it sends, and the commands that it is given."""

    process: Process
    port: int

    async def answer(self, number: int, before: bytes, after: bytes) -> None:
        """Once this write is here. Commands come before its answer, or after it."""
        assert self.process.stdin is not None and self.process.stdout is not None
        came = b""
        while b'{"n": %d}' % number not in came:
            came += await self.process.stdout.read(4096)
        for command in (before, OK, after):
            if command:
                self.process.stdin.write(command if command is OK else command + b"\n")
                await self.process.stdin.drain()
                await asyncio.sleep(_COMMANDED_S)


@contextlib.asynccontextmanager
async def openssl(authority: Authority, *options: str) -> AsyncIterator[OpenSsl]:
    cert, key = authority.issue("upstream")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ("openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", str(cert), "-key", str(key), *options)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(60):
        await process.stdout.readuntil(b"ACCEPT")
    try:
        yield OpenSsl(process, port)
    finally:
        process.kill()
        await process.wait()


async def told(gate: Stack, upstream: OpenSsl, number: int, before: bytes = b"", after: bytes = b"") -> RawAnswer:
    answering = asyncio.ensure_future(upstream.answer(number, before, after))
    answer = await gate.write("/reports/7", body=b'{"n": %d}' % number)
    _, late = await asyncio.wait((answering,), timeout=5)
    for one in late:
        one.cancel()
    return answer


@pytest.mark.parametrize("command", [b"K", b"k"], ids=["the gateway's keys too", "its own keys"])
async def test_new_keys_are_taken(command: bytes, store_url: str, tmp_path: Path) -> None:
    """Within a write, and between two (KeyUpdate, RFC 8446, section 4.6.3)."""
    authority = Authority(tmp_path / "tls")
    async with openssl(authority, "-tls1_3") as server:
        upstream = RecordingUpstream(port=server.port)
        async with reloading(store_url, tmp_path, upstream, f"tls: {{ca: {authority.ca}}}") as (gate, _):
            await gate.lease("report/7")
            answers = [await told(gate, server, 1, before=command), await told(gate, server, 2, after=command)]
            answers.append(await told(gate, server, 3))

            assert [answer.decision for answer in answers] == ["forwarded"] * 3


async def test_another_handshake_on_an_idle_connection_costs_one_attempt(store_url: str, tmp_path: Path) -> None:
    """The gateway takes none (TLS 1.2): the next write is proved not sent, and the one after it goes through."""
    authority = Authority(tmp_path / "tls")
    async with openssl(authority, "-tls1_2", "-legacy_renegotiation", "-client_renegotiation") as server:
        upstream = RecordingUpstream(port=server.port)
        async with reloading(store_url, tmp_path, upstream, f"tls: {{ca: {authority.ca}}}") as (gate, _):
            await gate.lease("report/7")
            answers = [await told(gate, server, 1, after=b"r")]
            answers += [await gate.write("/reports/7", body=b"{}")]
            answers += [await told(gate, server, 3)]

            assert [answer.decision for answer in answers] == ["forwarded", "upstream-unreachable", "forwarded"]
