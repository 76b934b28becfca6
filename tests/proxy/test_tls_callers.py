"""Callers over TLS that end their side at once."""

import asyncio
import socket
import ssl
from pathlib import Path

from gateway.log import Log
from gateway.serve.assignment import Assignment
from gateway.serve.worker import proxy
from tests.certificates import Authority
from tests.raw import RawClient, request
from tests.recording import RecordingUpstream
from tests.stack import ANYWHERE, POLICY, rules_from

TOLD = """    authority: header
    intent: {{mode: required}}
"""
FIELDS = ("Fencing-Token: 42", "Fencing-Holder: a", "Idempotency-Key: one", "Content-Type: application/json")
WRITE = request("PUT", "/reports/7", *FIELDS, body=b"{}")


def write_and_close(port: int, client: ssl.SSLContext) -> None:
    """Send the closure alert behind the request, and wait for nothing."""
    with socket.create_connection(("127.0.0.1", port), 20) as plain:
        secured = client.wrap_socket(plain, server_hostname="localhost")
        secured.sendall(WRITE)
        secured.settimeout(0)
        try:
            secured.unwrap().close()
        except (ssl.SSLError, OSError):
            secured.close()


async def test_a_caller_that_closes_behind_its_write_has_it_done_once(store_url: str, tmp_path: Path) -> None:
    """Whether it is forwarded or not, the same key tells how it ended, and forwards it at most once in all."""
    authority = Authority(tmp_path / "tls")

    async with RecordingUpstream() as upstream:
        rules = rules_from(tmp_path / "policies", (POLICY + TOLD).format(port=upstream.port))
        assignment = Assignment(ANYWHERE, "", store_url, 2.0, 5.0, "json", "info")
        with (tmp_path / "log").open("ab") as lines:
            async with proxy(assignment, lambda: rules, Log("json", descriptor=lines.fileno())) as server:
                listening = await asyncio.get_running_loop().create_server(
                    server, "127.0.0.1", 0, ssl=authority.server("gateway")
                )
                port = listening.sockets[0].getsockname()[1]
                await asyncio.to_thread(write_and_close, port, authority.client())
                async with RawClient(port, authority.client()) as client:
                    await client.send(WRITE)
                    again = await client.answer()
                listening.close()
                await server.finish(5.0)

        assert again.decision in ("replayed", "forwarded", "intent-in-progress")
        assert len(upstream.seen) == 1
