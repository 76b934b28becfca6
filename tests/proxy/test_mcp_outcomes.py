"""What becomes of a call of an MCP tool, by what its server answers over the wire."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.proxy.notes import EVENTS, POLICY, RESULT, answering_calls, call, chunk, error, named, post, told, whole
from tests.raw import RawAnswer, RawClient, request
from tests.recording import Seen
from tests.stack import Stack, stack
from tests.until import until

OTHERS = b'{"jsonrpc": "2.0", "id": 99, "result": {}}'
OTHERS_ERROR = b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32600, "message": "x"}}'
BOTH = b'{"jsonrpc": "2.0", "id": 7, "result": {}, "error": {"code": -32602, "message": "x"}}'
NOTE = b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"error": {"code": -32602}}}'


@pytest.fixture
async def gate(store_url: str, tmp_path: Path) -> AsyncIterator[Stack]:
    async with stack(store_url, tmp_path, POLICY.replace("total: 5s", "total: 1s")) as gate:
        yield gate


def _stream(*messages: bytes, mark: bytes = b"") -> bytes:
    body = mark + b"".join(b"data: " + message + b"\n\n" for message in messages)
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)


@pytest.mark.parametrize(
    ("body", "outcome", "again"),
    [
        (b'{"jsonrpc": "2.0", "id": 7, "result": {"isError": true, "content": []}}', "applied", "replayed"),
        (b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32022, "message": "x"}}', "unknown", "outcome-unknown"),
        (b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "message": "x"}}', "not_applied", "forwarded"),
        (b'{"jsonrpc": "2.0", "id": 7, "result": {"resultType": "input_required", "x": []}}', "applied", "replayed"),
        (b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32603, "message": "x"}}', "unknown", "outcome-unknown"),
    ],
    ids=["a tool that failed", "unknown version", "what a policy says", "more input", "internal error"],
)
async def test_an_error_of_the_server_tells_the_outcome(gate: Stack, body: bytes, outcome: str, again: str) -> None:
    """Any error may come from a tool that has acted: it proves something where the policy says so, and holds else."""
    gate.upstream.answer = answering_calls(whole(body))
    await gate.lease("note/7")
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    first = await post(gate, call(key="k"), token)
    second = await post(gate, call(key="k"), token)

    assert (first.decision, first.value("Fencing-Outcome"), told(first.body)) == ("forwarded", outcome, body)
    assert second.decision == again


@pytest.mark.parametrize(
    ("answer", "again"),
    [
        (_stream(OTHERS_ERROR, RESULT), "answer-not-kept"),
        (_stream(OTHERS), "outcome-unknown"),
        (_stream(OTHERS_ERROR), "outcome-unknown"),
        (_stream(BOTH), "outcome-unknown"),
        (_stream(NOTE), "outcome-unknown"),
        (_stream(RESULT.replace(b"7,", b"7,\ndata: ")), "outcome-unknown"),
        (_stream(RESULT, mark=b"\xef\xbb\xbf"), "outcome-unknown"),
    ],
    ids=[
        "another's error, then the result",
        "another's result",
        "an error of no call",
        "result and error",
        "notifications only",
        "a result in two lines",
        "a byte order mark",
    ],
)
async def test_another_calls_answer_frees_no_key(gate: Stack, answer: bytes, again: str) -> None:
    """Only what has the call's own id speaks for it: a repeat runs nothing, and is not given another's result."""
    gate.upstream.answer = answering_calls(answer)
    await gate.lease("note/7")
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    first = await post(gate, call(key="k"), token)
    second = await post(gate, call(key="k", id="8"), token)

    assert first.decision == "forwarded"
    assert second.decision == again
    assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize(
    ("answer", "again"),
    [
        (whole(b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32602, "data": "%b"}}' % (b"x" * 70_000)), "forwarded"),
        (_stream(*[NOTE] * 900, b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32602}}'), "forwarded"),
        (_stream(*[NOTE] * 900, RESULT), "replayed"),
        (_stream(*[NOTE] * 900), "outcome-unknown"),
        (_stream(*[NOTE] * 900, OTHERS), "outcome-unknown"),
        (whole(RESULT).replace(b"\r\n\r\n", b"\r\nContent-Encoding: br\r\n\r\n"), "outcome-unknown"),
    ],
    ids=["large error", "error at the end", "result at the end", "no answer", "another's answer", "in a coding"],
)
async def test_a_large_or_coded_answer_counts_by_what_it_says(gate: Stack, answer: bytes, again: str) -> None:
    """Never by its status; a repeat under another id gets the result under that id."""
    gate.upstream.answer = answering_calls(answer)
    await gate.lease("note/7")
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    await post(gate, call(key="k"), token)

    second: list[RawAnswer] = []

    async def is_settled() -> bool:
        second[:] = [await post(gate, call(key="k", id="8"), token)]
        return second[0].decision != "intent-in-progress"

    await until(is_settled)
    assert second[0].decision == again
    if again == "replayed":
        assert second[0].body == b"data: " + RESULT.replace(b"7", b"8") + b"\n\n"


@pytest.mark.parametrize(
    ("status", "body", "outcome", "again"),
    [
        ("400 Bad Request", b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32600}}', "unknown", "outcome-unknown"),
        ("404 Not Found", b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32601}}', "unknown", "outcome-unknown"),
        ("400 Bad Request", RESULT, "unknown", "outcome-unknown"),
        ("400 Bad Request", b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32022}}', "unknown", "outcome-unknown"),
        ("400 Bad Request", b'{"jsonrpc": "2.0", "id": 7, "error": {"code": -32602}}', "not_applied", "forwarded"),
        ("404 Not Found", b'{"jsonrpc": "2.0", "id": null, "error": {"code": -32600}}', "not_applied", "forwarded"),
        ("404 Not Found", b"Session not found", "not_applied", "forwarded"),
        ("403 Forbidden", b"", "not_applied", "forwarded"),
    ],
)
async def test_a_refusal_by_http_proves_what_its_error_proves(
    gate: Stack, status: str, body: bytes, outcome: str, again: str
) -> None:
    """Servers send what a tool has raised under 400, too; where no error names the call, no tool was reached."""
    gate.upstream.answer = answering_calls(whole(body).replace(b"200 OK", status.encode()))
    await gate.lease("note/7")
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    first = await post(gate, call(key="k"), token)
    second = await post(gate, call(key="k"), token)

    assert (first.decision, first.value("Fencing-Outcome"), told(first.body)) == ("forwarded", outcome, body)
    assert second.decision == again


@pytest.mark.parametrize("id", ["null", "true", "[7]", None])
async def test_a_call_of_a_tool_has_an_id(gate: Stack, id: str | None) -> None:
    """Servers drop one without, or run it and answer to nobody: what became of it could not be told."""
    await gate.lease("note/7")
    answer = await post(gate, call(key="k", id=id), f"Fencing-Token: {gate.tokens['agent-a']}")

    assert (answer.status, answer.decision) == (400, "ambiguous-target")
    assert "has no id" in str(answer.problem["detail"])
    assert gate.upstream.seen == []


async def test_a_stream_that_ends_without_an_answer_leaves_the_outcome_unknown(gate: Stack) -> None:
    """Its head promises nothing: `Fencing-Outcome` is left out where the rest of the stream tells it."""
    go_on = asyncio.Event()

    async def stream(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(EVENTS + chunk(b"id: 1\ndata: \n\n"))
        await go_on.wait()
        writer.write(b"0\r\n\r\n")

    gate.upstream.answer = stream
    await gate.lease("note/7")
    fields = ("Content-Type: application/json", f"Fencing-Token: {gate.tokens['agent-a']}")
    async with RawClient(gate.port) as client:
        await client.send(request("POST", "/mcp", *fields, body=call(key="k")))
        head = [await client.line()]
        while head[-1] != b"\r\n":
            head.append(await client.line())
        go_on.set()
        assert b"data: \n" in [await client.line() for _ in range(3)]
        assert not any(line.startswith(b"Fencing-Outcome") for line in head)

        async def is_settled() -> bool:
            return (await post(gate, call(key="k"), fields[1])).decision != "intent-in-progress"

        await until(is_settled)
    again = await post(gate, call(key="k"), fields[1])
    assert (again.decision, error(again)["code"]) == ("outcome-unknown", -32015)
    assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize(
    ("stream", "is_told"),
    [
        (chunk(b"data: " + NOTE + b"\n\n"), True),
        (chunk(b": ping\r\n\r\n"), True),
        (chunk(b"data: " + NOTE), False),
        (chunk(b"id: 1\ndata: " + NOTE + b"\n\n"), False),
        (chunk(b"data: " + RESULT + b"\n\n"), False),
    ],
    ids=["after an event", "after a ping", "in an event", "with an id to come back for", "after the answer"],
)
async def test_a_stream_that_breaks_off_ends_with_what_is_known_of_its_call(
    gate: Stack, stream: bytes, *, is_told: bool
) -> None:
    """A client that only sees a broken transfer sends the call again; where an event still fits, it is told not to."""

    async def breaking(seen: Seen, writer: asyncio.StreamWriter) -> None:
        _, _, data = stream.partition(b"\r\n")
        writer.write(EVENTS + chunk(named(data.removesuffix(b"\r\n"), seen)))
        await writer.drain()
        writer.close()

    gate.upstream.answer = breaking
    await gate.lease("note/7")
    answer = await post(gate, call(key="k"), f"Fencing-Token: {gate.tokens['agent-a']}")

    assert answer.whole == is_told
    assert (b'"id": 7, "error": {"code": -32015, "message": "The write was sent and may or may not' in answer.body) == (
        is_told
    )
    assert answer.body.endswith(b"\n\n") or not is_told
