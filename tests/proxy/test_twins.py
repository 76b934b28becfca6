"""A name or value that an API may take for another one, through a whole gateway: what is in doubt moves nothing."""

from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s}}
defaults: {{authority: header}}
read_only:
  - {{match: POST /run, when: {{json: {{/dry_run: true}}}}}}
writes:
  - {{name: run, match: POST /run, resource: "doc/{{json:/doc_id}}"}}
  - name: pay
    match: POST /pay
    resource: doc/{{json:/doc/id}}
    intent: {{mode: optional, key: "{{json:/ref_no}}", fingerprint: [/amount_cents]}}
    budget: [{{per: resource, window: 1h, value: json:/amount_cents, total: 100}}]
  - {{name: find, match: POST /find, when: {{query: {{force: "true"}}}}, resource: "doc/{{query.doc_id}}"}}
  - {{name: send, match: POST /send, when: {{form: {{force: "true"}}}}, resource: "doc/{{form.doc_id}}"}}
"""
JSON = "Content-Type: application/json"
FORM = "Content-Type: application/x-www-form-urlencoded"

PLAIN = [
    ("/run", JSON, b'{"doc_id": "7", "dry_run": false, "doc_name": "x"}'),
    ("/pay", JSON, b'{"doc": {"id": "7"}, "ref_no": "a", "amount_cents": 1, "amount": 9, "doc.name": "x"}'),
    ("/find?doc_id=7&force=true&doc_name=x", JSON, b"{}"),
    ("/send", FORM, b"doc_id=7&force=true&doc_name=x"),
]
DOUBTFUL = [
    ("/run", JSON, b'{"doc_id": "7", "docId": "8"}'),
    ("/run", JSON, b'{"docId": "8"}'),
    ("/run", JSON, b'{"doc_id": "7", "dryRun": true}'),
    ("/run", JSON, b'{"doc_id": "7", "dry_run": "true"}'),
    ("/run", JSON, b'{"doc_id": "7", "__proto__": {"dry_run": true}}'),
    ("/run?docId=8", JSON, b'{"doc_id": "7"}'),
    ("/pay", JSON, b'{"doc": {"id": "7"}, "doc.id": "8", "ref_no": "a", "amount_cents": 1}'),
    ("/pay", JSON, b'{"doc": {"id": "7"}, "ref_no": "a", "amount_cents": 1, "amountCents": 1000}'),
    ("/pay", JSON, b'{"doc": {"id": "7"}, "ref_no": "a", "ref-no": "b", "amount_cents": 1}'),
    ("/pay", JSON, b'{"doc": {"id": "7"}, "refNo": "b", "amount_cents": 1}'),
    ("/find?doc_id=7&docId=8&force=true", JSON, b"{}"),
    ("/find?doc_id=7&force=True", JSON, b"{}"),
    ("/find?doc_id=7&force=true", JSON, b'{"docId": "8"}'),
    ("/send", FORM, b"doc_id=7&docId=8&force=true"),
    ("/send", FORM, b"doc_id=7&force=1"),
]


async def write(gate: Stack, epoch: int, target: str, field: str, body: bytes) -> RawAnswer:
    proof = (f"Fencing-Token: {epoch}", "Fencing-Holder: a")
    return await ask(gate.port, "POST", target, *proof, field, body=body)


@pytest.mark.parametrize("mode", ["enforce", "observe"])
async def test_what_may_be_another_name_or_value_moves_nothing(store_url: str, tmp_path: Path, mode: str) -> None:
    """Neither the API nor an epoch sees it, whatever the rule's mode; names that lead elsewhere may stand beside."""
    policy = POLICY.replace("{{authority: header}}", f"{{{{authority: header, mode: {mode}}}}}")
    async with stack(store_url, tmp_path, policy) as gate:
        refused = [await write(gate, 9, *one) for one in DOUBTFUL]
        assert [(one.status, one.decision) for one in refused] == [(400, "ambiguous-target")] * len(DOUBTFUL)
        assert gate.upstream.seen == []

        passed = [await write(gate, 1, *one) for one in PLAIN]
        assert [one.decision for one in passed] == ["forwarded"] * len(PLAIN)
