"""A member that a policy closes, in a body of every framing, coding and type: nothing of it is sent."""

import gzip
from pathlib import Path

import pytest

from tests.raw import RawAnswer, RawClient
from tests.stack import Stack, stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs}}
timeouts: {{connect: 1s, total: 5s}}
closed:
  - {{match: "PUT,DELETE /docs/{{id}}", when: {{json: {{/archived: {{present: true}}}}}}}}
writes:
  - {{name: write, match: "PUT,DELETE /docs/{{id}}", resource: "doc/{{path.id}}", values: integer}}
  - name: only
    match: PUT,DELETE /docs/{{id}}/title
    resource: doc/{{path.id}}
    values: integer
    only: {{json: [/title]}}
"""
JSON = "Content-Type: application/json"
BODY = b'{"archived": true}'
CHUNKED = b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY)
# To each: its fields, how it is framed, and what it is at both rules.
SENT = {
    "in chunks": ((JSON, "Transfer-Encoding: chunked"), CHUNKED, "no-policy"),
    "gzip": ((JSON, "Content-Encoding: gzip"), gzip.compress(BODY, mtime=0), "unsupported-coding"),
    "identity": ((JSON, "Content-Encoding: identity"), BODY, "no-policy"),
    "br": ((JSON, "Content-Encoding: br"), BODY, "unsupported-coding"),
    "a coding with an underscore": ((JSON, "Content_Encoding: gzip"), BODY, "ambiguous-target"),
    "no type": ((), BODY, "ambiguous-target"),
    "no type, in chunks": (("Transfer-Encoding: chunked",), CHUNKED, "ambiguous-target"),
    "text/xml": (("Content-Type: text/xml",), BODY, "ambiguous-target"),
    "a form, in chunks": (
        ("Content-Type: application/x-www-form-urlencoded", "Transfer-Encoding: chunked"),
        CHUNKED,
        "ambiguous-target",
    ),
}


async def sent(gate: Stack, method: str, target: str, fields: tuple[str, ...], body: bytes) -> RawAnswer:
    framing = () if "Transfer-Encoding: chunked" in fields else (f"Content-Length: {len(body)}",)
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    lines = (f"{method} {target} HTTP/1.1", "Host: localhost", token, *fields, *framing)
    async with RawClient(gate.port) as client:
        await client.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return await client.answer(method)


@pytest.mark.parametrize(("fields", "body", "decision"), SENT.values(), ids=SENT)
async def test_a_closed_member_is_found_however_it_comes(
    store_url: str, tmp_path: Path, fields: tuple[str, ...], body: bytes, decision: str
) -> None:
    """What is read as JSON is closed, and what may be JSON to its API is refused, as under a list of members."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("doc/7")
        told = {
            (await sent(gate, method, target, fields, body)).decision
            for method in ("PUT", "DELETE")
            for target in ("/docs/7", "/docs/7/title")
        }

        assert told == {decision}
        assert gate.upstream.seen == []


UNDONE = POLICY.replace("mount: {{path: /docs}}", "mount: {{path: /docs, coded_bodies: undone, bodies: [json]}}")
OPEN = b'{"title": "x"}'
NAMED = b"\x1f\x8b\x08\x08" + bytes(4) + b"\x00\x03archived\x00" + gzip.compress(OPEN, mtime=0)[10:]
CODED = {
    "gzip": ("gzip", gzip.compress(OPEN, mtime=0), "forwarded"),
    "a name in its head": ("gzip", NAMED, "forwarded"),
    "gzip of what is closed": ("gzip", gzip.compress(BODY, mtime=0), "no-policy"),
    "a second member": ("gzip", gzip.compress(OPEN, mtime=0) + gzip.compress(BODY, mtime=0), "unsupported-coding"),
    "in capitals": ("GZIP", gzip.compress(OPEN, mtime=0), "unsupported-coding"),
    "identity beside it": ("gzip, identity", gzip.compress(OPEN, mtime=0), "unsupported-coding"),
    "another name": ("x-gzip", gzip.compress(OPEN, mtime=0), "unsupported-coding"),
    "plain": ("gzip", OPEN, "unsupported-coding"),
    "30 KiB for 30 MiB": ("gzip", gzip.compress(bytes(30 << 20), mtime=0), "body-too-large"),
}


@pytest.mark.parametrize(("coding", "body", "decision"), CODED.values(), ids=CODED)
async def test_nor_is_it_in_a_coding_that_the_api_undoes(
    store_url: str, tmp_path: Path, coding: str, body: bytes, decision: str
) -> None:
    """What is read is what everybody makes of it; it arrives as it was sent."""
    async with stack(store_url, tmp_path, UNDONE) as gate:
        await gate.lease("doc/7")
        answers = [
            await sent(gate, "PUT", target, (JSON, f"Content-Encoding: {coding}"), body)
            for target in ("/docs/7", "/docs/7/title")
        ]
        twice = await sent(gate, "PUT", "/docs/7", (JSON, *["Content-Encoding: gzip"] * 2), body)

        assert [answer.decision for answer in answers] == [decision] * 2
        assert twice.decision in ("ambiguous-target", "bad-request", "unsupported-coding")
        assert [seen.body for seen in gate.upstream.seen] == ([body] * 2 if decision == "forwarded" else [])
