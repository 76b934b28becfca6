"""What is refused before the fence takes nothing: no write of the minute, no budget, no resource, no key, no epoch."""

import hashlib
from pathlib import Path

import pytest

from tests.raw import RawAnswer, ask
from tests.stack import Stack, stack

POLICY = """
upstream: docs
url: http://localhost:{port}
mount: {{path: /docs}}
timeouts: {{connect: 1s, total: 5s}}
limits: {{stream: 1KiB}}
writes:
  - name: write
    match: PUT,POST,DELETE /docs/{{id}}
    resource: doc/{{path.id}}
    values: integer
    authority: header
    intent: {{mode: required}}
    budget: [{{per: tenant, window: 1h, count: 1}}]
"""
KEY = "a-key-of-some-length"
PRINCIPALS = f"""
principals:
  - name: ada
    key: sha256:{hashlib.sha256(KEY.encode()).hexdigest()}
    resources: [doc/7]
    quota: {{writes_per_minute: 1, resources: 1}}
"""
JSON = "Content-Type: application/json"
CALLER, TOKEN, HOLDER, INTENT = f"Fencegate-Key: {KEY}", "Fencing-Token: 9", "Fencing-Holder: a", "Idempotency-Key: k-1"
RIGHT = (CALLER, TOKEN, HOLDER, INTENT, JSON)
LARGE = b'"%b"' % (b"x" * 1025)

# Each is refused thrice: more often than anything that is counted allows.
FORM = [
    ("PUT /docs/07", RIGHT, b"{}", "ambiguous-target"),
    ("PUT /docs/7:archive", RIGHT, b"{}", "ambiguous-target"),
    ("PUT /docs/7?id=8", RIGHT, b"{}", "ambiguous-target"),
    ("PUT /docs/7?_method=DELETE", RIGHT, b"{}", "ambiguous-target"),
    ("PUT /docs/a%2Fb", RIGHT, b"{}", "ambiguous-target"),
    ("PUT /docs/7", (*RIGHT, "X-HTTP-Method-Override: DELETE"), b"{}", "ambiguous-target"),
    ("PUT /docs/7", (*RIGHT, "SCRIPT_NAME: /x"), b"{}", "ambiguous-target"),
    ("PUT /docs/7", (*RIGHT, "Fencing-Sequence: 07"), b"{}", "header-malformed"),
    ("PUT /docs/7", (*RIGHT, "Fencing-If-Revision: 1"), b"{}", "header-malformed"),
    ("PUT /docs/7", (*RIGHT, INTENT), b"{}", "header-malformed"),
    ("PUT /docs/7", (CALLER, TOKEN, HOLDER, JSON, "Idempotency-Key: k 1"), b"{}", "header-malformed"),
    ("PUT /docs/7", (CALLER, TOKEN, HOLDER, JSON), b"{}", "idempotency-key-required"),
    ("PUT /docs/7", (CALLER, HOLDER, INTENT, JSON), b"{}", "token-required"),
    ("PUT /docs/7", (CALLER, "Fencing-Token: 09", HOLDER, INTENT, JSON), b"{}", "token-malformed"),
    ("PUT /docs/7", (CALLER, TOKEN, INTENT, JSON), b"{}", "token-malformed"),
    ("PUT /docs/7", RIGHT, LARGE, "body-too-large"),
]
RIGHTS = [
    ("PUT /docs/8", RIGHT, b"{}", "forbidden"),
    ("PATCH /docs/7", RIGHT, b"{}", "no-policy"),
    ("PUT /notes/7", RIGHT, b"{}", "no-upstream"),
    ("PUT /docs/7", RIGHT[1:], b"{}", "unauthenticated"),
    ("PUT /docs/7", ("Fencegate-Key: another", *RIGHT[1:]), b"{}", "unauthenticated"),
    ("PUT /docs/7", (CALLER, *RIGHT), b"{}", "header-malformed"),
]


async def send(gate: Stack, line: str, fields: tuple[str, ...], body: bytes) -> RawAnswer:
    method, _, target = line.partition(" ")
    return await ask(gate.port, method, target, *fields, body=body)


@pytest.mark.parametrize("cases", [FORM, RIGHTS], ids=["for its form", "for its caller or rights"])
async def test_the_first_right_write_has_all_that_there_is(
    store_url: str, tmp_path: Path, cases: list[tuple[str, tuple[str, ...], bytes, str]]
) -> None:
    """One write a minute, one write of the budget, one resource a day, one key: under an older epoch than all that was
    refused, with another body under the same key, it is sent. It has used them up.
    """
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "principals.yaml").write_text(PRINCIPALS)
    async with stack(store_url, tmp_path, POLICY) as gate:
        refused = [(await send(gate, *case[:3])).decision for case in cases for _ in range(3)]
        right = (CALLER, "Fencing-Token: 8", HOLDER, INTENT, JSON)
        first = await send(gate, "PUT /docs/7", right, b'{"right": true}')
        second = await send(gate, "PUT /docs/7", (*right[:3], "Idempotency-Key: k-2", JSON), b"{}")

        assert refused == [case[3] for case in cases for _ in range(3)]
        assert (first.decision, second.decision) == ("forwarded", "quota-exceeded")
        assert [seen.body for seen in gate.upstream.seen] == [b'{"right": true}']
