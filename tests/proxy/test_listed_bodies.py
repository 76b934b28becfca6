"""An API that is sent JSON alone: a body of another kind is refused before it is read, and before anything moves."""

from pathlib import Path

import pytest

from tests.raw import RawAnswer, RawClient
from tests.stack import Stack, stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs, bodies: [json, application/octet-stream]}}
timeouts: {{connect: 1s, total: 5s}}
read_only:
  - {{match: POST /docs/search}}
writes:
  - {{name: write, match: "POST,DELETE /docs/{{id}}", resource: "doc/{{path.id}}", values: integer}}
"""
JSON = "Content-Type: application/json"
HIDDEN = b'X: Content-Disposition: x; name="sudo"'
PARTS = b'--B\r\n%b\r\nContent-Disposition: form-data; name="x"\r\n\r\nroot\r\n--B--\r\n' % HIDDEN
REFUSED = {
    "multipart": ("Content-Type: multipart/form-data; boundary=B",),
    "a form": ("Content-Type: application/x-www-form-urlencoded",),
    "no type": (),
    "two types": (JSON, "Content-Type: multipart/form-data; boundary=B"),
    "another spelling": (JSON, "Content_Type: multipart/form-data; boundary=B"),
    "a folded type": ("Content-Type: application/json, multipart/form-data; boundary=B",),
    "gzip": (JSON, "Content-Encoding: gzip"),
}
DECISIONS = {
    "multipart": "no-policy",
    "a form": "no-policy",
    "no type": "no-policy",
    # The listener's own.
    "two types": "bad-request",
    "gzip": "unsupported-coding",
}


async def sent(gate: Stack, line: str, fields: tuple[str, ...], body: bytes = b"") -> RawAnswer:
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    lines = (f"{line} HTTP/1.1", "Host: localhost", token, *fields)
    async with RawClient(gate.port) as client:
        await client.send("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return await client.answer(line.split()[0])


@pytest.mark.parametrize("kind", REFUSED)
async def test_another_body_reaches_no_api(store_url: str, tmp_path: Path, kind: str) -> None:
    """Of writes and of what changes nothing, however it is framed. One that was announced is not waited for."""
    chunked = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PARTS), PARTS)
    framings = (
        (f"Content-Length: {len(PARTS)}", PARTS),
        ("Transfer-Encoding: chunked", chunked),
        ("Content-Length: 9000000", b""),
    )
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("doc/7")
        told = {
            (await sent(gate, line, (*REFUSED[kind], framing), body)).decision
            for line in ("POST /docs/7", "DELETE /docs/7", "POST /docs/search")
            for framing, body in framings
        }

        assert told == {DECISIONS.get(kind, "ambiguous-target")}
        assert gate.upstream.seen == []


async def test_what_is_listed_and_what_brings_no_body_pass(store_url: str, tmp_path: Path) -> None:
    """Whatever the latter says of a body."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("doc/7")
        told = [
            (await sent(gate, "POST /docs/7", (JSON, "Content-Length: 2"), b"{}")).decision,
            (await sent(gate, "POST /docs/7", (JSON, "Transfer-Encoding: chunked"), b"2\r\n{}\r\n0\r\n\r\n")).decision,
            (
                await sent(gate, "POST /docs/7", ("Content-Type: application/octet-stream", "Content-Length: 1"), b"a")
            ).decision,
            (await sent(gate, "DELETE /docs/7", ("Content-Type: text/plain",))).decision,
            (await sent(gate, "POST /docs/7", ("Content-Length: 0",))).decision,
            (await sent(gate, "POST /docs/search", (JSON, "Content-Length: 2"), b"{}")).decision,
        ]

        assert told == [*["forwarded"] * 5, "passed"]
        assert len(gate.upstream.seen) == 6
