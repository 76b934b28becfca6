"""The official MCP SDK, client and server, with the gateway between: with sessions and without, JSON and events."""

import asyncio
import contextlib
import json
import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp", reason="the MCP SDK is not installed (pip install mcp)")

from mcp import Client, MCPError

from tests.mcp_server import Notes, connected, connected_by, serving
from tests.pages import ROOT
from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack
from tests.until import until

POLICY = """
upstream: notes
url: http://127.0.0.1:PORT
protocol: mcp
mount: {{path: /mcp}}
timeouts: {{connect: 1s, total: 5s}}
read_only:
  - {{match: POST /mcp, when: {{tool: search}}}}
  - {{match: POST /mcp, when: {{answer: true, json: {{/result/action: accept}}}}}}
writes:
  - name: write
    match: POST /mcp
    when: {{tool: [write, rename, fail]}}
    resource: note/{{json:/params/arguments/note}}
    intent: {{mode: optional, key: "{{json:/params/_meta/key}}"}}
"""
LEGACY, MODERN = "legacy", "auto"
# Without sessions the SDK's server answers as it sees fit; its clients take both.
FORMS = [(LEGACY, False), (LEGACY, True), (MODERN, False), (MODERN, True)]
IDS = ["sessions, events", "sessions, JSON", "stateless, events", "stateless, JSON"]


@dataclass
class Between:
    """The gateway, the server behind it, and a client of one kind."""

    gate: Stack
    notes: Notes
    mode: str

    @contextlib.asynccontextmanager
    async def client(self, holder: str | None = None) -> AsyncIterator[Client]:
        """A client that writes under the holder's token; without one for None."""
        token = None if holder is None else self.gate.tokens[holder]
        async with connected(self.gate.port, mode=self.mode, token=token) as client:
            yield client


@pytest.fixture(params=FORMS, ids=IDS)
async def between(request: pytest.FixtureRequest, store_url: str, tmp_path: Path) -> AsyncIterator[Between]:
    mode, json_response = request.param
    async with (
        serving(json_response=json_response) as notes,
        stack(store_url, tmp_path, POLICY.replace("PORT", str(notes.port))) as gate,
    ):
        yield Between(gate, notes, mode)


async def test_a_client_lists_and_reads_without_a_token(between: Between) -> None:
    """Discovering or initialising, listing, pinging and what the policy calls a read pass."""
    async with between.client() as client:
        tools = [tool.name for tool in (await client.list_tools()).tools]
        found = await client.call_tool("search", {"text": "x"})
        revision = client.protocol_version

    assert tools == ["search", "write", "rename", "fail", "drop"]
    assert found.structured_content == {"result": "nothing about x"}
    assert revision.startswith("2025" if between.mode == LEGACY else "2026")


async def test_a_call_is_fenced_and_replayed_under_its_new_id(between: Between) -> None:
    """Each call of the client has an id of its own; under one key it is executed once."""
    await between.gate.lease("note/7")
    async with between.client("agent-a") as client:
        one, two = [await client.call_tool("write", {"note": "7", "text": "x"}, meta={"key": "k-1"}) for _ in range(2)]

    assert one.structured_content == two.structured_content == {"result": "7 is x"}
    assert between.notes.written == [("7", "x")]


@pytest.mark.parametrize("code", [-32700, -32600, -32601, -32602, -32020, -32021, -32022, -32000])
@pytest.mark.parametrize("between", FORMS[1:], ids=IDS[1:], indirect=True)
async def test_an_error_that_a_tool_has_raised_holds_its_key(between: Between, code: int) -> None:
    """Whatever its code: the tool had written, and a repeat does not run it again."""
    await between.gate.lease("note/7")
    async with between.client("agent-a") as client:
        told = []
        for _ in range(2):
            with pytest.raises(MCPError) as raised:
                await client.call_tool("fail", {"note": "7", "code": code}, meta={"key": "k-1"})
            told.append(raised.value.code)

    # A mismatch of headers makes the client without sessions send it once more by itself.
    is_repeated = code == -32020 and between.mode == MODERN
    assert told == [-32015 if is_repeated else code, -32015]
    assert between.notes.written == [("7", "half")]


@pytest.mark.parametrize("json_response", [False, True], ids=["events", "JSON"])
async def test_a_read_under_the_id_of_a_write_ends_no_write(
    store_url: str, tmp_path: Path, *, json_response: bool
) -> None:
    """The SDK's server gives the first answer of the two to whoever came last with an id: that may not be the write's,
    or the next holder would be let in while the tool of this one is still at work."""
    async with (
        serving(json_response=json_response) as notes,
        stack(store_url, tmp_path, POLICY.replace("PORT", str(notes.port))) as gate,
    ):
        notes.may_end.clear()
        notes.may_find.clear()
        await gate.lease("note/7")
        session = await _session(gate)
        searching = asyncio.ensure_future(_call(gate, "search", {"text": "x"}, session))
        await notes.searching.wait()
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        writing = asyncio.ensure_future(_call(gate, "write", {"note": "7", "text": "x"}, session, token))
        await until(lambda: bool(notes.written))
        notes.may_find.set()
        found = await searching
        granted = json.loads((await gate.lease("note/7", "agent-b", takeover=True)).body)
        waits = not writing.done()
        notes.may_end.set()
        written = await writing

        assert "nothing about x" in found.body.decode()
        assert (granted["in_flight"], granted["drained"], waits) == (1, False, True)
        assert (written.decision, "7 is x" in written.body.decode()) == ("forwarded", True)


@pytest.mark.parametrize("json_response", [False, True], ids=["events", "JSON"])
async def test_who_closes_a_session_lets_no_other_holder_in(
    store_url: str, tmp_path: Path, *, json_response: bool
) -> None:
    """The server ends the answer to a write in it, and may let its tool go on: the write is in flight until its time
    is over."""
    async with (
        serving(json_response=json_response) as notes,
        stack(store_url, tmp_path, POLICY.replace("PORT", str(notes.port))) as gate,
    ):
        notes.may_end.clear()
        await gate.lease("note/7")
        session = await _session(gate)
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        writing = asyncio.ensure_future(_call(gate, "write", {"note": "7", "text": "x"}, session, token))
        await until(lambda: bool(notes.written))
        closed = await ask(gate.port, "DELETE", "/mcp", session)
        written = await writing
        granted = json.loads((await gate.lease("note/7", "agent-b", takeover=True)).body)

        assert (closed.decision, written.decision) == ("passed", "forwarded")
        assert written.value("Fencing-Outcome") != "applied"
        assert (granted["in_flight"], granted["drained"]) == (1, False)


FIELDS = ("Content-Type: application/json", "Accept: application/json, text/event-stream")


async def _session(gate: Stack) -> str:
    """A session of 2025-06-18, by hand."""
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": about}
    begun = await ask(gate.port, "POST", "/mcp", *FIELDS, body=json.dumps(message).encode())
    session = f"Mcp-Session-Id: {begun.value('Mcp-Session-Id')}"
    noted = b'{"jsonrpc": "2.0", "method": "notifications/initialized"}'
    assert (await ask(gate.port, "POST", "/mcp", *FIELDS, session, body=noted)).status == 202
    return session


async def _call(gate: Stack, tool: str, arguments: dict[str, str], *fields: str) -> RawAnswer:
    """Always under the same id."""
    message = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return await ask(gate.port, "POST", "/mcp", *FIELDS, *fields, body=json.dumps(message).encode())


async def test_one_client_writes_under_several_leases(between: Between) -> None:
    """By the hook that policies/README.md shows: each call goes under the token of what it names."""
    page = (ROOT / "policies" / "README.md").read_text()
    [hook] = re.findall(r"^```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    told: dict[str, Any] = {}
    exec(hook, told)
    for note in ("7", "8"):
        await between.gate.lease(f"note/{note}")
        told["tokens"][note] = between.gate.tokens["agent-a"]

    async with connected_by(told["http"], between.gate.port, mode=between.mode) as client:
        for note in ("7", "8", "7"):
            await client.call_tool("write", {"note": note, "text": "x"})

    assert between.notes.written == [("7", "x"), ("8", "x"), ("7", "x")]


async def test_a_tool_without_a_rule_is_an_error_of_the_call(between: Between) -> None:
    """The client gets the gateway's error for its own call, and goes on."""
    async with between.client() as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("drop", {"note": "7"})
        again = await client.call_tool("search", {"text": "x"})

    assert (refused.value.code, refused.value.data["type"]) == (-32005, "urn:fencegate:no-policy")
    assert not again.is_error
    assert between.notes.written == []


async def test_a_stale_holder_is_told_by_the_call(between: Between) -> None:
    """The problem is the error's data: the overtaken agent stops."""
    await between.gate.lease("note/7")
    await between.gate.lease("note/7", "agent-b", takeover=True)
    async with between.client("agent-a") as client:
        with pytest.raises(MCPError) as refused:
            await client.call_tool("write", {"note": "7", "text": "old"})
    async with between.client("agent-b") as client:
        await client.call_tool("write", {"note": "7", "text": "new"})

    assert (refused.value.code, refused.value.data["action"]) == (-32009, "stop")
    assert between.notes.written == [("7", "new")]


@pytest.mark.parametrize("between", [FORMS[0], FORMS[2]], ids=[IDS[0], IDS[2]], indirect=True)
async def test_what_the_server_sends_during_a_call_comes_at_once(between: Between) -> None:
    """A progress notification is not held back until the answer."""
    between.notes.may_end.clear()
    seen: asyncio.Queue[str | None] = asyncio.Queue()

    async def progressed(_: float, __: float | None, message: str | None) -> None:
        seen.put_nowait(message)

    await between.gate.lease("note/7")
    async with between.client("agent-a") as client:
        calling = asyncio.ensure_future(
            client.call_tool("write", {"note": "7", "text": "x"}, progress_callback=progressed)
        )
        async with asyncio.timeout(20):
            assert await seen.get() == "half"
        between.notes.may_end.set()
        assert (await calling).structured_content == {"result": "7 is x"}


@pytest.mark.parametrize("between", [FORMS[0], *FORMS[2:]], ids=[IDS[0], *IDS[2:]], indirect=True)
async def test_a_call_that_asks_the_user_is_one_write(between: Between) -> None:
    """With sessions the answer is a message of its own; without, the call is repeated with it, as the same intent."""
    await between.gate.lease("note/7")
    async with between.client("agent-a") as client:
        one, two = [await client.call_tool("rename", {"note": "7"}, meta={"key": "k-2"}) for _ in range(2)]

    assert one.structured_content == two.structured_content == {"result": "7 is called plan"}
    assert between.notes.written == [("7", "plan")]


@pytest.mark.parametrize("between", FORMS[:2], ids=IDS[:2], indirect=True)
async def test_a_session_is_closed_through_the_gateway(between: Between) -> None:
    """The client's DELETE reaches the server under the session's own id, without a token."""
    async with between.client() as client:
        await client.list_tools()

    deleted = [session for method, session in between.notes.requests if method == "DELETE"]
    assert len(deleted) == 1 and deleted[0] is not None
    assert {session for method, session in between.notes.requests if method == "GET"} <= {deleted[0]}
