"""Hundreds of clients of each bad kind at once, and good ones that notice nothing of them."""

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from tests.gateway_process import GatewayProcess, running, write_policy
from tests.raw import RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.until import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

OF_EACH = 100
GOOD = 100
# An answer that fits into no buffer: whoever does not read it holds it up.
LARGE = b"HTTP/1.1 200 OK\r\nContent-Length: 16777216\r\n\r\n" + bytes(16 << 20)


async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
    if "/large" not in seen.line:
        await answer_ok(seen, writer)
        return
    writer.write(LARGE)
    with contextlib.suppress(ConnectionError):
        await writer.drain()


def under(token: str) -> str:
    return f"Fencing-Token: {token}"


async def idle(client: RawClient, token: str) -> None:
    await client.send(request("GET", "/reports/1"))
    await client.answer("GET")


async def slow_head(client: RawClient, token: str) -> None:
    await client.send(b"PUT /reports/1 HTT")


async def slow_body(client: RawClient, token: str) -> None:
    await client.send(request("PUT", "/reports/1", under(token), "Content-Length: 100000") + b"{")


async def reads_nothing(client: RawClient, token: str) -> None:
    client.writer.transport.pause_reading()  # type: ignore[attr-defined]  # a transport of both ways
    await client.send(request("GET", "/reports/large"))


async def floods(client: RawClient, token: str) -> None:
    await client.send(request("GET", "/reports/1") * 20)


BAD: tuple[Callable[[RawClient, str], Awaitable[None]], ...] = (idle, slow_head, slow_body, reads_nothing, floods)


@contextlib.asynccontextmanager
async def crowd(gateway: GatewayProcess, token: str) -> AsyncIterator[None]:
    clients: list[RawClient] = []
    try:
        for behave in BAD:
            for _ in range(OF_EACH):
                clients.append(await RawClient(gateway.proxy).__aenter__())
                await behave(clients[-1], token)
        yield
    finally:
        for client in clients:
            client.writer.transport.abort()


async def test_good_clients_notice_nothing_of_a_crowd_of_bad_ones(tmp_path: Path) -> None:
    """All that they send is done; most of it while the crowd is at it, and none of it slowly. The crowd is let go."""
    async with RecordingUpstream(answer=answer) as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path) as gateway:
            theirs, ours = await lease(gateway, "report/1"), await lease(gateway, "report/2")
            async with crowd(gateway, theirs):
                began, answers = time.monotonic(), []
                for _ in range(GOOD):
                    answers.append(await ask(gateway.proxy, "PUT", "/reports/2", under(ours), body=b"{}"))
                took = time.monotonic() - began
                waiting = await waits_for(gateway, "body")

            async def is_quiet() -> bool:
                return await waits_for(gateway, "body") == 0

            await until(is_quiet)
            after = await ask(gateway.proxy, "PUT", "/reports/2", under(ours), body=b"{}")

    assert {(each.status, each.decision) for each in [*answers, after]} == {(200, "forwarded")}
    assert waiting >= 1
    assert took < 60, f"{GOOD} writes took {took:.1f} s"


async def lease(gateway: GatewayProcess, resource: str) -> str:
    """One that outlives the test on a machine that others keep busy."""
    asked = json.dumps({"resource": resource, "holder": "agent-a", "ttl_s": 600}).encode()
    return str(json.loads((await ask(gateway.proxy, "POST", "/-/fence/leases", body=asked)).body)["token"])


async def waits_for(gateway: GatewayProcess, what: str) -> float:
    text = (await gateway.operate("GET", "/metrics")).body.decode()
    lines = [line for line in text.splitlines() if line.startswith(f'fencegate_waiting{{what="{what}"}}')]
    return float(lines[0].split()[-1]) if lines else 0.0
