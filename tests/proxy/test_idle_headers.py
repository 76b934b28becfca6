"""Where headers are listed, those that mean nothing to an API do not reach it, however its write is sent."""

from pathlib import Path

import pytest

from tests.raw import ask
from tests.stack import stack

POLICY = """
upstream: app
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
read_only:
  - {{match: POST /preview, only: {{form: [to], header: []}}}}
writes:
  - {{name: pay, match: "POST /accounts/{{id}}", resource: "account/{{path.id}}", only: {{form: [to], header: []}}}}
  - name: seen
    match: POST /seen/{{id}}
    resource: seen/{{path.id}}
    mode: observe
    only: {{form: [to], header: []}}
  - name: later
    match: POST /later/{{id}}
    resource: later/{{path.id}}
    delivery: queued
    intent: {{mode: required}}
    only: {{form: [to], header: [Prefer]}}
  - {{name: open, match: "POST /open/{{id}}", resource: "account/{{path.id}}", only: {{form: [to]}}}}
"""
FORM = "Content-Type: application/x-www-form-urlencoded"
IDLE = ("Via: 8", "priority: 8", "Sec-CH-To: 8", "PRAGMA: 8", "Baggage: to=8")
USUAL = ("User-Agent: a", "Accept: */*", "Origin: http://localhost")


@pytest.mark.parametrize(
    ("target", "resource", "fields", "decision"),
    [
        ("/accounts/7", "account/7", (), "forwarded"),
        ("/seen/7", "seen/7", (), "forwarded"),
        ("/later/7", "later/7", ("Idempotency-Key: k", "Prefer: wait=10"), "replayed"),
        ("/preview", "account/7", (), "passed"),
    ],
)
async def test_they_are_dropped(
    store_url: str, tmp_path: Path, target: str, resource: str, fields: tuple[str, ...], decision: str
) -> None:
    """What clients, libraries and proxies send by themselves is no reason to refuse, nor a field to Spring."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease(resource)
        token = (f"Fencing-Token: {gate.tokens['agent-a']}",)
        answer = await ask(gate.port, "POST", target, FORM, *IDLE, *USUAL, *fields, *token, body=b"to=1")

        assert answer.decision == decision
        (seen,) = gate.upstream.seen
        assert [seen.values(each.partition(":")[0]) for each in IDLE] == [[]] * len(IDLE)
        assert [seen.values(each.partition(":")[0]) for each in USUAL] == [[each.partition(": ")[2]] for each in USUAL]
        assert seen.body == b"to=1"


async def test_they_arrive_where_headers_are_not_listed(store_url: str, tmp_path: Path) -> None:
    """Such a policy says nothing of them; what is listed arrives anyway."""
    async with stack(store_url, tmp_path, POLICY) as gate:
        await gate.lease("account/7")
        await gate.write("/open/7", FORM, *IDLE, method="POST", body=b"to=1")

        (seen,) = gate.upstream.seen
        assert [seen.values(each.partition(":")[0]) for each in IDLE] == [[each.partition(": ")[2]] for each in IDLE]
