"""What common clients send passes as they send it, under a policy that lists all that a request may say."""

from pathlib import Path

import pytest

from tests.proxy.common_clients import CLIENTS, Sent
from tests.raw import RawAnswer, RawClient
from tests.recording import RecordingUpstream
from tests.stack import Stack, stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /, bodies: [json, form, multipart]}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: write
    match: PUT,POST,PATCH,DELETE /docs/{{id}}
    resource: doc/{{path.id}}
    values: integer
    only: {{query: [], json: [/title], form: [title, file], header: []}}
    intent: {{mode: optional}}
  - name: change
    match: POST /graphql
    when: {{graphql: {{mutation: [updateDoc]}}}}
    resource: doc/{{graphql.id}}
    values: integer
    only: {{query: [], json: [/query, /variables, /operationName, /extensions], header: []}}
"""
# Of files, whose types and members nobody lists.
FILES = """
upstream: files
url: http://localhost:PORT
mount: {path: /files}
writes:
  - {name: put, match: "PUT /files/{id}", resource: "doc/{path.id}", values: integer, only: {header: []}}
"""
# What a proxy does not pass on, or passes on as its own; answers to intents are asked for without a coding, and what
# stands in a closed list of headers is told no page. The key of an intent is the gateway's to know.
OWN = {
    "idempotency-key",
    "referer",
    "connection",
    "accept-encoding",
    "host",
    "upgrade",
    "http2-settings",
    "te",
    "expect",
    "transfer-encoding",
    "content-length",
}
IDLE = ("x-stainless", "sec-ch", "baggage", "request-context", "postman", "x-instana", "x-dynatrace", "ot-tracer")


async def asked(gate: Stack, fields: tuple[str, ...], sent: Sent) -> RawAnswer:
    """On a connection of its own, with a length unless it says another framing."""
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    framing = "Transfer-Encoding: chunked" if sent.is_chunked else f"Content-Length: {len(sent.body)}"
    framed = () if not sent.body or any("length" in field.lower() for field in sent.fields) else (framing,)
    lines = (f"{sent.line} HTTP/1.1", "Host: localhost", token, *fields, *sent.fields, *framed)
    async with RawClient(gate.port) as client:
        await client.send("\r\n".join(lines).encode() + b"\r\n\r\n" + sent.body)
        return await client.answer()


@pytest.mark.parametrize("client", CLIENTS)
async def test_what_a_common_client_sends_is_forwarded_as_it_is(store_url: str, tmp_path: Path, client: str) -> None:
    """Its type, its body and what else it says; none of it has to be listed."""
    fields, requests = CLIENTS[client]
    (tmp_path / "policies").mkdir()
    async with RecordingUpstream() as files:
        (tmp_path / "policies" / "files.yaml").write_text(FILES.replace("PORT", str(files.port)))
        async with stack(store_url, tmp_path, POLICY) as gate:
            await gate.lease("doc/7")
            for sent in requests:
                upstream = files if "/files/" in sent.line else gate.upstream
                answer = await asked(gate, fields, sent)

                assert (answer.status, answer.decision) == (200, "forwarded"), (sent, answer.body)
                seen = upstream.seen[-1]
                assert seen.line == f"{sent.line} HTTP/1.1"
                assert seen.body == (b"abc" if sent.is_chunked else sent.body)
                for field in (*fields, *sent.fields):
                    name, _, value = field.partition(": ")
                    if name.lower() not in OWN and not name.lower().startswith(IDLE):
                        assert value in seen.values(name), field
            assert len(gate.upstream.seen) + len(files.seen) == len(requests)
