"""MCP and JSON-RPC over the wire: what the server sees, and in which form a refusal comes back."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.proxy.notes import EVENTS, POLICY, RESULT, answering_calls, call, chunk, error, named, post, told, whole
from tests.raw import RawClient, ask, request
from tests.recording import Seen, answering
from tests.stack import Stack, stack
from tests.until import until

HTTP_POLICY = """
upstream: ledger
url: http://localhost:{port}
mount: {{path: /rpc}}
writes:
  - {{name: call, match: "POST /rpc", resource: ledger, errors: jsonrpc}}
"""


@pytest.fixture
async def gate(store_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(store_url, tmp_path, POLICY) as gate:
        yield gate


@pytest.mark.parametrize("id", ["7", '"\\u0041/b"', "1.0", "9007199254740993"])
async def test_a_refusal_is_an_error_with_the_calls_own_id(gate: Stack, id: str) -> None:
    """Spelled as it came; `Fencing-Decision` says the same as ever."""
    answer = await post(gate, call("drop", id))

    assert answer.decision == "no-policy"
    assert answer.body.startswith(b'{"jsonrpc": "2.0", "id": ' + id.encode() + b", ")
    assert error(answer)["code"] == -32005
    assert gate.upstream.seen == []


@pytest.mark.parametrize(
    ("body", "called"),
    [
        (call("drop"), "the tool `drop`"),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "tasks/cancel"}', "the method `tasks/cancel`"),
        (call("a `b`"), None),
        (call("x" * 129), None),
    ],
    ids=["a tool", "a method", "a name that is no plain one", "a long one"],
)
async def test_what_no_rule_allows_is_named_to_its_caller_and_in_the_log(
    gate: Stack, body: bytes, called: str | None
) -> None:
    """All calls have one path: whoever writes the policy reads there what it lacks."""
    answer = await post(gate, body)

    assert f"no rule of upstream notes allows {called or 'this write'}." in str(error(answer)["message"])
    line = json.loads(gate.log.read_text().splitlines()[-1])
    assert (line["decision"], line["upstream"], line.get("why")) == ("no-policy", "notes", called)


async def test_a_stale_token_is_an_error_of_the_call(gate: Stack) -> None:
    """The problem's members are its data: an agent reads there who rules now."""
    await gate.lease("note/7")
    await gate.lease("note/7", "agent-b", takeover=True)

    answer = await post(gate, call(), f"Fencing-Token: {gate.tokens['agent-a']}")

    assert answer.decision == "stale-epoch"
    data = error(answer)["data"]
    assert isinstance(data, dict)
    assert (data["status"], data["action"], data["resource"]) == (412, "stop", "note/7")
    assert gate.upstream.seen == []


async def test_a_refusal_to_be_retried_says_when(gate: Stack) -> None:
    """`Retry-After` stands beside an error as beside a problem."""
    await gate.upstream.__aexit__()
    answer = await post(gate, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}')

    assert answer.decision == "upstream-unreachable"
    assert error(answer)["code"] == -32017
    assert answer.value("Retry-After") == "1"


async def test_a_client_that_takes_streams_only_gets_one_event(gate: Stack) -> None:
    """Clients of the first revisions may accept nothing else."""
    answer = await post(gate, call("drop"), "Accept: text/event-stream")

    assert (answer.status, answer.value("Content-Type")) == (200, "text/event-stream")
    head, data, *rest = answer.body.split(b"\n")
    assert (head, rest) == (b"event: message", [b"", b""])
    assert json.loads(data.removeprefix(b"data: "))["error"]["code"] == -32005


@pytest.mark.parametrize(
    ("body", "status", "decision"),
    [
        (call("drop", None), 400, "ambiguous-target"),
        (call("drop", "null"), 400, "ambiguous-target"),
        (b'{"jsonrpc": "2.0", "method": "notifications/drop"}', 403, "no-policy"),
        (b"[" + call() + b"]", 400, "ambiguous-target"),
        (b"{", 400, "ambiguous-target"),
        (b'{"id": 1, "method": "ping", "jsonrpc": "2.0", "id": 2}', 400, "ambiguous-target"),
        (b'"' + b"x" * 2000 + b'"', 413, "body-too-large"),
    ],
    ids=[
        "notification",
        "id of null",
        "notification of another method",
        "batch",
        "no JSON",
        "two ids",
        "too large to be read",
    ],
)
async def test_what_is_no_call_is_refused_with_the_problem(
    gate: Stack, body: bytes, status: int, decision: str
) -> None:
    """There is no id to answer to; MCP wants an HTTP error for what cannot be accepted."""
    answer = await post(gate, body)

    assert (answer.status, answer.decision) == (status, decision)
    assert answer.problem["status"] == status
    assert gate.upstream.seen == []


@pytest.mark.parametrize(
    "body",
    [
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}',
        b'{"jsonrpc": "2.0", "method": "notifications/initialized"}',
        b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "id": 2, "result": {}}]',
        call("search"),
    ],
    ids=["initialize", "notification", "batch of reads", "tool that the policy calls a read"],
)
async def test_what_writes_nothing_passes_byte_for_byte(gate: Stack, body: bytes) -> None:
    """No token, and the session's headers both ways."""
    gate.upstream.answer = answering(b"HTTP/1.1 202 Accepted\r\nMcp-Session-Id: s-1\r\nContent-Length: 0\r\n\r\n")

    answer = await post(gate, body, "Mcp-Session-Id: s-1", "Mcp-Protocol-Version: 2025-06-18")

    assert (answer.status, answer.decision, answer.value("Mcp-Session-Id")) == (202, "passed", "s-1")
    [seen] = gate.upstream.seen
    assert (seen.line, seen.body) == ("POST /mcp HTTP/1.1", body)
    assert (seen.values("Mcp-Session-Id"), seen.values("Mcp-Protocol-Version")) == (["s-1"], ["2025-06-18"])


async def test_a_read_names_no_other_method(gate: Stack) -> None:
    """A listing whose query would make a DELETE of it is refused before its body is read."""
    answer = await post(gate, b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}', target="/mcp?_method=DELETE")

    assert (answer.status, answer.decision) == (400, "ambiguous-target")
    assert answer.problem["action"] == "fix-request"
    assert gate.upstream.seen == []


async def test_an_overtaken_call_gets_no_answer_to_what_its_server_asked(gate: Stack) -> None:
    """The server would go on with it after the newer holder wrote. Where a rule takes answers, a stale one is told."""
    await gate.lease("note/7")
    await gate.lease("note/7", "agent-b", takeover=True)
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    accept = b'{"jsonrpc": "2.0", "id": "e1", "result": {"action": "accept", "_meta": {"note": 7}}}'
    closed = await post(gate, accept, token)
    stale = await post(gate, accept.replace(b'"accept"', b'"confirm"'), token)

    assert (closed.status, closed.decision) == (403, "no-policy")
    assert "a call would go on with it" in str(closed.problem["detail"])
    assert (stale.status, stale.decision) == (412, "stale-epoch")
    assert gate.upstream.seen == []


@pytest.mark.parametrize("result", ["{}", '{"roots": []}', '{"_meta": {"note": 7}}'], ids=["ping", "roots", "meta"])
async def test_an_answer_that_grants_nothing_passes_for_anybody(gate: Stack, result: str) -> None:
    """It names no call and no holder: to the fence, a tool that waits for it is an API that is slow."""
    await gate.lease("note/7")
    await gate.lease("note/7", "agent-b", takeover=True)
    body = f'{{"jsonrpc": "2.0", "id": "p1", "result": {result}}}'.encode()

    assert (await post(gate, body, f"Fencing-Token: {gate.tokens['agent-a']}")).decision == "passed"
    assert [seen.body for seen in gate.upstream.seen] == [body]


async def test_an_answer_under_a_rule_is_a_write_while_its_call_is_under_way(gate: Stack) -> None:
    """The holder's own, and accepted by the server as a message: its status tells the outcome."""
    go_on, asked = asyncio.Event(), asyncio.Event()

    async def server(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if b"tools/call" not in seen.body:
            go_on.set()
            writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            return
        asked.set()
        await go_on.wait()
        writer.write(whole(named(RESULT, seen)))

    gate.upstream.answer = server
    await gate.lease("note/7")
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    calling = asyncio.ensure_future(post(gate, call(), token))
    await asked.wait()
    confirm = b'{"jsonrpc": "2.0", "id": "e1", "result": {"action": "confirm", "_meta": {"note": 7}}}'
    answered = await post(gate, confirm, token)
    called = await calling

    assert (answered.decision, answered.value("Fencing-Outcome")) == ("forwarded", "applied")
    assert (called.decision, called.value("Fencing-Outcome")) == ("forwarded", "applied")


async def test_a_session_is_closed_without_a_token(gate: Stack) -> None:
    """A DELETE that names a session is the protocol's own."""
    answer = await ask(gate.port, "DELETE", "/mcp", "Mcp-Session-Id: s-1")

    assert (answer.status, answer.decision) == (200, "passed")
    assert gate.upstream.seen[0].line == "DELETE /mcp HTTP/1.1"


async def test_a_call_is_a_write_under_its_rule(gate: Stack) -> None:
    """It needs a token, is forwarded once, and a repeat under another id gets the answer under that id."""
    gate.upstream.answer = answering_calls(whole(RESULT))
    without = await post(gate, call(key="k"))
    await gate.lease("note/7")
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    first = await post(gate, call(key="k"), token)
    again = await post(gate, call(id='"retry"', key="k"), token)

    assert (without.decision, error(without)["code"]) == ("token-required", -32007)
    assert (first.decision, first.value("Fencing-Outcome")) == ("forwarded", "applied")
    assert again.decision == "replayed"
    assert again.body == b'{"jsonrpc": "2.0", "id": "retry", "result": {"content": []}}'
    assert len(gate.upstream.seen) == 1


async def test_a_refused_message_moves_no_epoch(gate: Stack) -> None:
    """What is refused for its form is refused before the fence."""
    await gate.lease("note/7")
    before = await gate.highest("note/7")
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    answer = await post(gate, call(), token, "Mcp-Name: search")

    assert (answer.decision, error(answer)["code"]) == ("ambiguous-target", -32006)
    assert await gate.highest("note/7") == before
    assert gate.upstream.seen == []


async def test_a_call_whose_caller_closes_the_stream_is_finished_and_recorded(gate: Stack) -> None:
    """Closing cancels nothing that was sent: whoever repeats the call gets the whole first answer."""
    go_on = asyncio.Event()
    note = b'data: {"jsonrpc": "2.0", "method": "notifications/progress", "params": {}}\n\n'
    last = b'data: {"jsonrpc": "2.0", "id": 7, "result": {"content": []}}\n\n'

    async def stream(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(EVENTS + chunk(note))
        await writer.drain()
        await go_on.wait()
        writer.write(chunk(named(last, seen)) + b"0\r\n\r\n")

    gate.upstream.answer = stream
    await gate.lease("note/7")
    fields = ("Content-Type: application/json", f"Fencing-Token: {gate.tokens['agent-a']}")
    async with RawClient(gate.port) as client:
        await client.send(request("POST", "/mcp", *fields, body=call(key="k")))
        while b"progress" not in await client.line():
            pass
    go_on.set()

    async def is_replayed() -> bool:
        return (await post(gate, call(key="k"), fields[1])).decision == "replayed"

    await until(is_replayed)
    again = await post(gate, call(id="8", key="k"), fields[1])
    assert again.body == note + last.replace(b'"id": 7', b'"id": 8')
    assert len(gate.upstream.seen) == 1


async def test_an_answer_that_comes_on_another_stream_is_the_callers(gate: Stack) -> None:
    """A client may come back for it (GET, with the last event's id), to any gateway: there the call has its id, too."""
    await gate.lease("note/7")
    gate.upstream.answer = answering(EVENTS + chunk(b"id: 1\nretry: 10\ndata: \n\n") + b"0\r\n\r\n")
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    first = await post(gate, call(id='"mine"'), token)
    late = named(b'data: {"jsonrpc": "2.0", "id": 7, "result": {}}\n\n', gate.upstream.seen[0])
    gate.upstream.answer = answering(EVENTS + chunk(late[:40]) + chunk(late[40:]) + b"0\r\n\r\n")
    resumed = await ask(gate.port, "GET", "/mcp", "Accept: text/event-stream", "Last-Event-ID: 1")

    assert (first.decision, resumed.decision) == ("forwarded", "passed")
    assert b"fencegate-" in late
    assert told(resumed.body) == b'data: {"jsonrpc": "2.0", "id": "mine", "result": {}}\n\n'


async def test_a_silent_event_stream_ends_with_its_caller(store_url: str, tmp_path: Path) -> None:
    """It may say nothing for longer than any other answer may take; when nobody listens, its connection is given up."""
    policy = POLICY.replace("total: 5s", "total: 200ms").replace("connect: 1s", "connect: 200ms")
    async with stack(store_url, tmp_path, policy) as gate:
        streams: list[asyncio.StreamWriter] = []

        async def stream(_: Seen, writer: asyncio.StreamWriter) -> None:
            streams.append(writer)
            writer.write(EVENTS)
            # The silence itself: longer than `total`.
            await asyncio.sleep(0.3)
            writer.write(chunk(b"data: late\n\n"))

        gate.upstream.answer = stream
        async with RawClient(gate.port) as client:
            await client.send(request("GET", "/mcp", "Accept: text/event-stream"))
            while await client.line() != b"data: late\n":
                assert not streams or not streams[0].is_closing()

        await until(streams[0].is_closing)


async def test_a_rule_may_ask_for_json_rpc_errors_without_mcp(store_url: str, tmp_path: Path) -> None:
    """`errors: jsonrpc` reads the body for the id; what is no call gets the problem."""
    async with stack(store_url, tmp_path, HTTP_POLICY) as gate:
        refused = await post(gate, b'{"jsonrpc": "2.0", "id": "a", "method": "post"}', target="/rpc")
        plain = await post(gate, b'{"method": "post"}', target="/rpc")

        assert (refused.decision, error(refused)["code"]) == ("token-required", -32007)
        assert json.loads(refused.body)["id"] == "a"
        assert (plain.status, plain.problem["status"]) == (428, 428)
        assert gate.upstream.seen == []


@pytest.mark.parametrize(
    "body",
    [
        call("search").replace(b'"name"', b'"Name": "drop", "name"'),
        call("search").replace(b'"name"', b'"name\\u0000": "drop", "name"'),
        call("search").replace(b'"params"', '"param\u017f": {"name": "drop"}, "params"'.encode()),
        call("search").replace(b'"method"', b'"method\\u0000": "tools/call", "method"'),
        call("write").replace(b'"arguments"', b'"Arguments": {"note": 9}, "arguments"'),
        call("write").replace(b'"note"', b'"note\\u0000": 9, "note"'),
        call("search\0"),
        call("search "),
    ],
    ids=["Name", "name and NUL", "long s", "method and NUL", "Arguments", "argument and NUL", "NUL", "blank"],
)
async def test_a_call_that_another_server_reads_as_another_goes_no_further(gate: Stack, body: bytes) -> None:
    """Be it a read here: the twin would be the tool that runs."""
    await gate.lease("note/7")
    answer = await post(gate, body, f"Fencing-Token: {gate.tokens['agent-a']}")

    assert answer.decision == "ambiguous-target"
    assert gate.upstream.seen == []
