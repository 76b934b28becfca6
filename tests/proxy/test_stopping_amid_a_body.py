"""A gateway that is stopped while a write's head waits for its body: nothing of it is sent, and nothing is left."""

import asyncio
import contextlib
from pathlib import Path

import pytest

from gateway.core.write import ResourceKey
from gateway.store.views.resource_views import tickets
from tests.raw import RawClient, request
from tests.stack import stack
from tests.store.fences import opened
from tests.until import until

RESOURCE = ResourceKey("report/7")


@pytest.mark.parametrize("comes", [True, False], ids=["it comes while the gateway stops", "it does not come"])
async def test_a_body_that_the_gateway_waits_for_as_it_stops(store_url: str, tmp_path: Path, *, comes: bool) -> None:
    """Its caller is told, and the next gateway finds the resource free."""

    async def given(client: RawClient, port: int) -> str | None:
        async def is_stopping() -> bool:
            try:
                async with RawClient(port):
                    return False
            except ConnectionError:
                return True

        await until(is_stopping)
        if comes:
            await client.send(b"{}")
        with contextlib.suppress(ConnectionError):
            return (await client.answer()).decision
        return None

    async with contextlib.AsyncExitStack() as clients, opened(store_url) as store:
        async with stack(store_url, tmp_path, grace_s=0.2) as gate:
            await gate.lease(RESOURCE)
            client = await clients.enter_async_context(RawClient(gate.port))
            fields = (f"Fencing-Token: {gate.tokens['agent-a']}", "Content-Length: 2")
            await client.send(request("PUT", "/reports/7", *fields))

            async def is_admitted() -> bool:
                return bool(await tickets(store, RESOURCE))

            await until(is_admitted)
            answer = asyncio.ensure_future(given(client, gate.port))
        told = await answer

        assert told in ("upstream-unreachable", "outcome-unknown")
        assert (gate.upstream.seen, gate.upstream.partial) == ([], [])
        assert all(ticket.unfinished for ticket in await tickets(store, RESOURCE))
        async with stack(store_url, tmp_path) as after:
            after.tokens.update(gate.tokens)
            assert (await after.write("/reports/7")).decision == "forwarded"
