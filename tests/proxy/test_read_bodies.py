"""Bodies that a rule has read whole: they go on with the length that they have, however they came."""

from pathlib import Path

import pytest

from tests.proxy.mail import proof
from tests.raw import RawAnswer, RawClient, request
from tests.stack import Stack, stack

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
defaults: {{authority: header}}
read_only:
  - {{match: POST /do, when: {{json: {{/dry: true}}}}}}
writes:
  - {{name: act, match: POST /do, resource: "do/{{json:/r}}"}}
  - {{name: asked, match: POST /asked, resource: "asked/{{query.r}}"}}
  - {{name: sum, match: POST /sum, resource: sum, intent: {{mode: optional}}}}
"""


async def in_chunks(gate: Stack, target: str, body: bytes, *fields: str) -> RawAnswer:
    """Of a few bytes each, if it is small, with an extension and a trailer."""
    async with RawClient(gate.port) as client:
        shown = (*proof(5), "Content-Type: application/json", *fields, "Transfer-Encoding: chunked")
        await client.send(request("POST", target, *shown))
        size = len(body) // 8 + 1
        for at in range(0, len(body), size):
            piece = body[at : at + size]
            await client.send(b"%x;x=y\r\n%b\r\n" % (len(piece), piece))
        await client.send(b"0\r\nX-Late: 1\r\n\r\n")
        return await client.answer("POST")


@pytest.mark.parametrize(
    ("target", "body", "decision", "fields"),
    [
        ("/do", b'{"dry": true}', "passed", ()),
        ("/do", b'{"r": "7"}', "forwarded", ()),
        ("/do", b'{"r": "7", "text": "%b"}' % (b"x" * 200_000), "forwarded", ()),
        ("/do", b'{"r": "7"}', "forwarded", ("Content-Encoding: identity",)),
        ("/asked?r=7", b'{"x": "7"}', "forwarded", ()),
        ("/sum", b'{"x": 7}', "forwarded", ("Idempotency-Key: k-1",)),
    ],
    ids=[
        "a read by its body",
        "a resource in it",
        "a large one",
        "coded as identity",
        "compared with the query",
        "of an intent",
    ],
)
async def test_a_chunked_body_that_was_read_arrives_with_its_length(
    store_url: str, tmp_path: Path, target: str, body: bytes, decision: str, fields: tuple[str, ...]
) -> None:
    """A server that knows lengths alone (CGI, WSGI) would find no body where the rule found one."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        answer = await in_chunks(gate, target, body, *fields)

        (seen,) = gate.upstream.seen
        assert (answer.decision, seen.body) == (decision, body)
        assert seen.values("Content-Length") == [str(len(body))]
        assert seen.values("Transfer-Encoding") == seen.values("X-Late") == seen.values("Trailer") == []
