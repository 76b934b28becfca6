"""A running gateway whose listeners speak TLS, as agents and operators meet it."""

import asyncio
import json
import ssl
import sys
from pathlib import Path

import pytest

from gateway import settings
from tests.certificates import Authority
from tests.gateway_process import running, starting, write_policy
from tests.raw import RawAnswer, RawClient, request
from tests.recording import RecordingUpstream

CUT_OFF = (ssl.SSLError, ConnectionError)


async def call(port: int, tls: ssl.SSLContext, method: str, target: str, *fields: str, body: bytes) -> RawAnswer:
    async with RawClient(port, tls) as client:
        await client.send(request(method, target, *fields, body=body))
        return await client.answer(method)


async def operate(port: int, *arguments: str, **variables: str) -> tuple[int | None, str]:
    """Status and output of a command."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", *arguments, "--admin", f"https://127.0.0.1:{port}"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=settings.environment() | variables,
    )
    out, _ = await process.communicate()
    return process.returncode, out.decode()


async def test_agents_and_operators_are_served_over_tls(tmp_path: Path) -> None:
    """Agents show a certificate where that is wanted; the commands trust the authority that they are told."""
    authority = Authority(tmp_path)
    cert, key = map(str, authority.issue("gateway"))
    proxy = ("--tls-cert", cert, "--tls-key", key, "--tls-client-ca", str(authority.ca))
    known = authority.client(*authority.issue("agent"))
    asked = json.dumps({"resource": "report/7", "holder": "agent-a", "ttl_s": 60}).encode()
    large = b'{"text": "' + b"x" * (1 << 20) + b'"}'
    async with RecordingUpstream() as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path, *proxy, "--admin-tls-cert", cert, "--admin-tls-key", key) as gateway:
            lease = await call(gateway.proxy, known, "POST", "/-/fence/leases", body=asked)
            token = f"Fencing-Token: {json.loads(lease.body)['token']}"
            answer = await call(gateway.proxy, known, "PUT", "/reports/7", token, body=large)
            with pytest.raises(CUT_OFF):
                await call(gateway.proxy, authority.client(), "PUT", "/reports/7", token, body=b"{}")
            trusting = await operate(gateway.admin, "resources", "list", FENCEGATE_ADMIN_CA=str(authority.ca))
            unaware = await operate(gateway.admin, "resources", "list")

            assert (answer.status, len(upstream.seen), len(upstream.seen[0].body)) == (200, 1, len(large))
            assert trusting[0] == 0 and "report/7" in trusting[1]
            assert unaware[0] == 1 and "FENCEGATE_ADMIN_CA" in unaware[1]
            (ready,) = gateway.logged("ready")
            assert str(ready["proxy"]).startswith("https://") and str(ready["admin"]).startswith("https://")


async def test_files_that_cannot_be_used_stop_the_start(tmp_path: Path) -> None:
    """Before anything listens, and with the option's name."""
    write_policy(tmp_path, 9)
    (tmp_path / "empty").touch()
    empty = str(tmp_path / "empty")
    async with starting(tmp_path, "--tls-cert", empty, "--tls-key", empty) as gateway:
        assert await gateway.process.wait() == 1

        assert f"--tls-cert: {empty} and {empty} are not a certificate" in gateway.log.read_text()
