"""What says that a call need not go on, or goes on elsewhere, ends no call: its server tells when it is over."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.proxy.notes import EVENTS, POLICY, call, error, named, post, whole
from tests.raw import ask
from tests.recording import RecordingUpstream, Seen
from tests.stack import Stack, stack
from tests.until import until

BRIEF = POLICY.replace("total: 5s", "total: 1s") + "defaults: {{fence: {{drain_timeout: 1ms}}}}\n"
PATIENT = BRIEF.replace("total: 1s", "total: 30s")
CANCELLED = b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32800, "message": "cancelled"}}'
SESSION = "Mcp-Session-Id: s-1"
Way = Callable[[Stack], Awaitable[str | None]]


class Tools(RecordingUpstream):
    """Its tool is at work until it is let go, whatever else is asked; then the call's stream ends as `told`."""

    def __init__(self, told: bytes) -> None:
        super().__init__(self._answer)
        self.told, self.goes = told, asyncio.Event()

    async def _answer(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if b"tools/call" not in seen.body:
            writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            return
        await self.goes.wait()
        writer.write(whole(named(self.told, seen)) if self.told else EVENTS + b"0\r\n\r\n")


async def cancelled(gate: Stack, params: str) -> str | None:
    """By whoever it is: it needs no token."""
    note = f'{{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {params}}}'
    return (await post(gate, note.encode(), SESSION)).decision


async def by_its_id(gate: Stack) -> str | None:
    return await cancelled(gate, '{"requestId": 7, "reason": "x"}')


async def by_its_id_as_text(gate: Stack) -> str | None:
    return await cancelled(gate, '{"requestId": "7"}')


async def by_the_end_of_its_session(gate: Stack) -> str | None:
    return (await ask(gate.port, "DELETE", "/mcp", SESSION)).decision


async def by_coming_back_for_its_stream(gate: Stack) -> str | None:
    fields = (SESSION, "Accept: text/event-stream", "Last-Event-ID: 7_1")
    return (await ask(gate.port, "GET", "/mcp", *fields)).decision


@pytest.mark.parametrize(
    "way", [by_its_id, by_its_id_as_text, by_the_end_of_its_session, by_coming_back_for_its_stream]
)
async def test_a_call_is_in_flight_until_its_server_answers(store_url: str, tmp_path: Path, way: Way) -> None:
    """A tool that does not look whether it is cancelled writes on: the next holder comes behind it. That it was
    cancelled says nothing of what it has done."""
    tools = Tools(CANCELLED)
    async with stack(store_url, tmp_path, PATIENT, tools) as gate:
        await gate.lease("note/7")
        calling = asyncio.ensure_future(post(gate, call(key="k"), f"Fencing-Token: {gate.tokens['agent-a']}"))
        await tools.until(lambda: len(tools.seen) == 1)
        passed = await way(gate)
        granted = json.loads((await gate.lease("note/7", "agent-b", takeover=True)).body)
        newer = f"Fencing-Token: {gate.tokens['agent-b']}"
        waiting = [await post(gate, call(key=key), newer) for key in ("new", "k")]
        tools.goes.set()
        told = await calling
        after = [await post(gate, call(key=key), newer) for key in ("k", "new")]

        assert (passed, granted["drained"], granted["in_flight"]) == ("passed", False, 1)
        assert [error(answer)["data"]["type"] for answer in waiting] == [
            "urn:fencegate:takeover-pending",
            "urn:fencegate:intent-in-progress",
        ]
        assert (told.decision, told.value("Fencing-Outcome")) == ("forwarded", "unknown")
        assert [answer.decision for answer in after] == ["outcome-unknown", "forwarded"]
        assert len([seen for seen in tools.seen if b"tools/call" in seen.body]) == 2


async def test_a_stream_that_ends_with_its_session_ends_no_call(store_url: str, tmp_path: Path) -> None:
    """Servers drop their streams at once, and let the tool run on: until its time is over it counts as in flight."""
    tools = Tools(b"")
    async with stack(store_url, tmp_path, BRIEF, tools) as gate:
        await gate.lease("note/7")
        calling = asyncio.ensure_future(post(gate, call(key="k"), f"Fencing-Token: {gate.tokens['agent-a']}"))
        await tools.until(lambda: len(tools.seen) == 1)
        await by_the_end_of_its_session(gate)
        tools.goes.set()
        told = await calling
        granted = json.loads((await gate.lease("note/7", "agent-b", takeover=True)).body)
        newer = f"Fencing-Token: {gate.tokens['agent-b']}"
        waiting = await post(gate, call(key="new"), newer)

        async def goes() -> bool:
            return (await post(gate, call(key="new"), newer)).decision == "forwarded"

        await until(goes)
        again = await post(gate, call(key="k"), newer)

        assert (told.status, granted["drained"], waiting.decision) == (200, False, "takeover-pending")
        assert again.decision == "outcome-unknown"
