"""A write whose body begins long after its admission: what holds when its first byte would be sent decides."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from gateway.core.pause import Scope
from gateway.store.fence import FenceStore
from gateway.store.pauses import begin_pause, new_pause_id
from tests.raw import RawAnswer, RawClient, ask
from tests.stack import Stack, stack
from tests.store.fences import opened
from tests.until import until

TARGET, RESOURCE = "/reports/7", "report/7"
BODY = b'{"text": "' + b"x" * 300_000 + b'"}'
FRAMINGS = {
    "with a length": (f"Content-Length: {len(BODY)}", BODY),
    "in chunks": ("Transfer-Encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)),
    "small": ("Content-Length: 2", b"{}"),
}


@contextlib.asynccontextmanager
async def admitted(gate: Stack, framing: str) -> AsyncIterator[Callable[[], Awaitable[RawAnswer]]]:
    """A write that was admitted by its head: who waits to be asked for a body is asked then. Give the body."""
    field, body = FRAMINGS[framing]
    await gate.lease(RESOURCE)
    async with RawClient(gate.port) as client:
        fields = f"Fencing-Token: {gate.tokens['agent-a']}", "Content-Type: application/json", field
        head = f"PUT {TARGET} HTTP/1.1", "Host: gateway", *fields, "Expect: 100-continue", "", ""
        await client.send("\r\n".join(head).encode())
        assert (await client.line()).startswith(b"HTTP/1.1 100 ")
        await client.line()

        async def give() -> RawAnswer:
            await client.send(body)
            return await client.answer()

        yield give


async def paused(gate: Stack, store: FenceStore) -> None:
    await begin_pause(store, Scope("all"), id=new_pause_id(), reason="a drill", by="operator")
    await gate.lease("report/8", "agent-c")

    async def is_paused() -> bool:
        return (await gate.write("/reports/8", holder="agent-c")).decision == "paused"

    await until(is_paused)


async def overtaken(gate: Stack, _: FenceStore) -> None:
    assert (await gate.lease(RESOURCE, "agent-b", takeover=True)).status == 201


async def given_back(gate: Stack, _: FenceStore) -> None:
    about = f"Fencing-Token: {gate.tokens['agent-a']}", "Content-Type: application/json"
    released = await ask(gate.port, "POST", "/-/fence/leases/release", *about, body=b'{"resource": "report/7"}')
    assert released.status == 204


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.upstream.sender._BEGINS_SOON_S", 0.0)


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize(
    ("change", "decision"), [(paused, "paused"), (overtaken, "stale-epoch"), (given_back, "lease-expired")]
)
async def test_what_changed_before_its_body_began_holds(
    store_url: str,
    tmp_path: Path,
    change: Callable[[Stack, FenceStore], Awaitable[None]],
    decision: str,
    framing: str,
) -> None:
    """An emergency stop, a successor, the end of its lease: nothing of it is sent."""
    async with stack(store_url, tmp_path) as gate, opened(store_url) as store, admitted(gate, framing) as give:
        await change(gate, store)
        sent = len(gate.upstream.seen)

        assert (await give()).decision == decision
        assert (len(gate.upstream.seen), gate.upstream.partial) == (sent, [])


@pytest.mark.parametrize("framing", FRAMINGS)
async def test_where_nothing_changed_it_is_sent_once_and_whole(store_url: str, tmp_path: Path, framing: str) -> None:
    """However slow its caller is."""
    async with stack(store_url, tmp_path) as gate, admitted(gate, framing) as give:
        answer = await give()

        assert (answer.status, answer.decision, answer.value("Fencing-Outcome")) == (200, "forwarded", "applied")
        assert [len(seen.body) for seen in gate.upstream.seen] == [2 if framing == "small" else len(BODY)]
        assert gate.upstream.seen[0].body in (b"{}", BODY)


async def test_one_that_is_taken_back_lets_the_next_one_go(store_url: str, tmp_path: Path) -> None:
    """Its successor waits for it no longer once it is refused."""
    async with stack(store_url, tmp_path) as gate, admitted(gate, "small") as give:
        await gate.lease(RESOURCE, "agent-b", takeover=True)
        after = asyncio.ensure_future(gate.write(TARGET, holder="agent-b", body=b'"new"'))

        assert (await give()).decision == "stale-epoch"
        assert (await after).decision == "forwarded"
        assert [seen.body for seen in gate.upstream.seen] == [b'"new"']
