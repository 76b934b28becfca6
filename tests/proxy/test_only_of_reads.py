"""What passes without a token and lists what it may say, at the real listener: in every framing and type."""

from pathlib import Path

import pytest

from tests.raw import RawAnswer, RawClient
from tests.stack import Stack, stack

POLICY = """
upstream: app
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
read_only:
  - {{match: POST /run/preview, only: {{json: [/data, /session_hash]}}}}
  - {{match: POST /jobs, when: {{json: {{/dry_run: true}}}}, only: {{json: [/dry_run, /name]}}}}
  - {{match: POST /runs, when: {{query: {{DryRun: "true"}}}}, only: {{query: [DryRun]}}}}
  - match: POST /docs/{{id}}
    when: {{query: {{"/save": ""}}}}
    only: {{query: [/save], form: [title], header: []}}
writes:
  - {{name: publish, match: POST /run/publish, resource: publications}}
  - {{name: jobs, match: POST /jobs, resource: jobs}}
  - {{name: runs, match: POST /runs, resource: runs}}
  - {{name: doc, match: "POST /docs/{{id}}", resource: "doc/{{path.id}}"}}
"""
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"
PARTS = "Content-Type: multipart/form-data; boundary=b"
CHUNKED = "Transfer-Encoding: chunked"
# One that waits on the disk until the rules have looked at it.
LARGE = b'{"data": ["%b"], "fn_index": 1}' % (b"x" * 200_000)
TITLE = b'--b\r\nContent-Disposition: form-data; name="title"\r\n\r\nx\r\n--b--\r\n'
OWNER = TITLE.replace(b"title", b"owner")

PASSED = {
    "none": ("/run/preview", (), b""),
    "members that are listed": ("/run/preview", (JSON,), b'{"data": ["x"], "session_hash": "s"}'),
    "in chunks": ("/run/preview", (JSON, CHUNKED), b'{"data": ["x"]}'),
    "a large one": ("/run/preview", (JSON,), LARGE.replace(b', "fn_index": 1', b"")),
    "a dry run": ("/jobs", (JSON,), b'{"name": "a", "dry_run": true}'),
    "by the query": ("/runs?DryRun=true", (), b""),
    "a form": ("/docs/7?/save", (FORM,), b"title=a"),
    "a multipart form": ("/docs/7?/save", (PARTS,), TITLE),
    "with a token": ("/docs/7?/save", (FORM, "Fencing-Token: 42.abcdefghijklmnopqrst-_"), b"title=a"),
}
REFUSED = {
    "another function": ("/run/preview", (JSON,), b'{"data": ["x"], "fn_index": 1}', "no-policy"),
    "in chunks": ("/run/preview", (JSON, CHUNKED), b'{"data": ["x"], "fn_index": 1}', "no-policy"),
    "a large one": ("/run/preview", (JSON,), LARGE, "no-policy"),
    "no type": ("/run/preview", (), b'{"data": ["x"]}', "ambiguous-target"),
    "bytes": ("/run/preview", ("Content-Type: application/octet-stream",), b"x", "ambiguous-target"),
    "a function in the query": ("/run/preview?fn_index=1", (), b"", "no-policy"),
    "a wrapped name": ("/jobs", (JSON,), b'{"name": "a", "dry_run": true, "job": {"name": "b"}}', "no-policy"),
    "a wrapped name beside": ("/jobs?job[name]=c", (JSON,), b'{"dry_run": true}', "no-policy"),
    "a prefix": ("/runs?DryRun=true&job.x=1", (), b"", "no-policy"),
    "a prefix in a form": ("/runs?DryRun=true", (FORM,), b"job.Name=a", "no-policy"),
    "a prefix in a form in chunks": ("/runs?DryRun=true", (FORM, CHUNKED), b"job.Name=a", "no-policy"),
    "a first action": ("/docs/7?/publish&/save", (), b"", "ambiguous-target"),
    "a part": ("/docs/7?/save", (PARTS,), OWNER, "no-policy"),
    "a header": ("/docs/7?/save", (FORM, "X-Owner: 8"), b"title=a", "no-policy"),
    "a cookie": ("/docs/7?/save", (FORM, "Cookie: title=b"), b"title=a", "no-policy"),
    "no dry run": ("/jobs", (JSON,), b'{"dry_run": false, "job": {"name": "b"}}', "token-required"),
}


async def post(gate: Stack, target: str, fields: tuple[str, ...], body: bytes) -> RawAnswer:
    if CHUNKED in fields:
        sent = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)
    else:
        sent, fields = body, (*fields, f"Content-Length: {len(body)}")
    async with RawClient(gate.port) as client:
        head = "\r\n".join((f"POST {target} HTTP/1.1", "Host: localhost", *fields))
        await client.send(head.encode() + b"\r\n\r\n" + sent)
        return await client.answer("POST")


@pytest.mark.parametrize(("target", "fields", "body"), PASSED.values(), ids=PASSED)
async def test_what_is_listed_passes_as_it_came(
    store_url: str, tmp_path: Path, target: str, fields: tuple[str, ...], body: bytes
) -> None:
    """Without a token, and byte for byte, though the rules have looked at all of it."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        answer = await post(gate, target, fields, body)

        assert (answer.status, answer.decision) == (200, "passed")
        (seen,) = gate.upstream.seen
        assert (seen.line, seen.body) == (f"POST {target} HTTP/1.1", body)


@pytest.mark.parametrize(("target", "fields", "body", "decision"), REFUSED.values(), ids=REFUSED)
async def test_what_says_more_is_not_sent(
    store_url: str, tmp_path: Path, target: str, fields: tuple[str, ...], body: bytes, decision: str
) -> None:
    """Nor is it taken for the write that the next rule would fence: its token does not say what it is."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("jobs")
        shown = (f"Fencing-Token: {gate.tokens['agent-a']}",) if decision != "token-required" else ()
        answer = await post(gate, target, (*fields, *shown), body)

        assert answer.decision == decision
        assert gate.upstream.seen == []
