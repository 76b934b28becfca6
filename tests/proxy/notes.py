"""An MCP server of notes behind the gateway: its policy, calls of its tools, and what it answers."""

import asyncio
import json
import re

from gateway.core.rpc_error import code_of
from tests.raw import RawAnswer, ask
from tests.recording import Answer, Seen
from tests.stack import Stack

POLICY = """
upstream: notes
url: http://localhost:{port}
protocol: mcp
mount: {{path: /mcp}}
limits: {{body: 1KiB}}
outcomes: {{not_applied: [4xx, -32602]}}
timeouts: {{connect: 1s, total: 5s}}
read_only:
  - {{match: POST /mcp, when: {{tool: search}}}}
writes:
  - name: write
    match: POST /mcp
    when: {{tool: write}}
    resource: note/{{json:/params/arguments/note}}
    intent: {{mode: optional, key: "{{json:/params/_meta/key}}"}}
  - name: confirm
    match: POST /mcp
    when: {{answer: true, json: {{/result/action: confirm}}}}
    resource: note/{{json:/result/_meta/note}}
    fence: {{concurrency: parallel}}
"""
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
RESULT = b'{"jsonrpc": "2.0", "id": 7, "result": {"content": []}}'


def call(name: str = "write", id: str | None = "7", key: str | None = None) -> bytes:
    """A call of a tool; its id spelled as given, and none for None."""
    params = {"name": name, "arguments": {"note": 7}} | ({} if key is None else {"_meta": {"key": key}})
    spelled = "" if id is None else f'"id": {id}, '
    return f'{{"jsonrpc": "2.0", {spelled}"method": "tools/call", "params": {json.dumps(params)}}}'.encode()


async def post(gate: Stack, body: bytes, *fields: str, target: str = "/mcp") -> RawAnswer:
    return await ask(gate.port, "POST", target, "Content-Type: application/json", *fields, body=body)


def named(message: bytes, seen: Seen) -> bytes:
    """What is said of call 7 as the server says it, who knows the call by another id."""
    own = re.search(rb'"id": ("[^"]*"|[-+.0-9eE]+), "method"', seen.body)
    assert own is not None
    return message.replace(b'"id": 7', b'"id": ' + own[1])


def answering_calls(data: bytes) -> Answer:
    """Answer each call with these bytes, as the answer to it."""
    head, _, body = data.partition(b"\r\n\r\n")

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        own = named(body, seen)
        writer.write(re.sub(rb"Content-Length: [0-9]+", b"Content-Length: %d" % len(own), head) + b"\r\n\r\n" + own)

    return answer


def told(body: bytes) -> bytes:
    """What an agent is told, without the blanks before its id."""
    return re.sub(rb'"id": +', b'"id": ', body)


def error(answer: RawAnswer) -> dict[str, object]:
    """The JSON-RPC error of an answer, which must be one."""
    assert (answer.status, answer.value("Content-Type")) == (200, "application/json")
    members: dict[str, object] = json.loads(answer.body)["error"]
    assert members["code"] == code_of(str(answer.decision))
    data = members["data"]
    assert isinstance(data, dict)
    assert (data["type"], data["detail"]) == (f"urn:fencegate:{answer.decision}", members["message"])
    return members


def whole(body: bytes) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    return head % len(body) + body


def chunk(piece: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(piece), piece)
