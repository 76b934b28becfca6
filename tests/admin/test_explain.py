"""Asking the policies in force about a request."""

import json
from pathlib import Path

import pytest

from tests.admin.conftest import Admin, listening
from tests.raw import RawAnswer

EXPLAIN = "/api/v1/explain"
BY_BODY = """
upstream: mail
url: http://localhost:9
mount: {path: /mail}
writes:
  - name: by-body
    match: POST /mail
    resource: box/{json:/box}
    intent: {mode: required}
"""


async def ask_about(admin: Admin, **document: object) -> RawAnswer:
    return await admin.call("POST", EXPLAIN, body=json.dumps(document).encode())


async def test_a_write_is_explained(admin: Admin) -> None:
    """Its rule and resource, and why each rule takes it or does not; nothing is sent."""
    answer = await ask_about(admin, method="PUT", target="/reports/7?draft=1")

    told = json.loads(answer.body)
    assert (told["answer"]["decision"], told["answer"]["rule"], told["answer"]["resource"]) == (
        "forwarded", "write", "report/7",
    )  # fmt: skip
    assert [(entry["entry"], entry["taken"]) for entry in told["considered"]] == [("rule write", True)]


@pytest.mark.parametrize(
    ("method", "target", "decision"),
    [
        ("GET", "/reports/7", "passed"),
        ("PUT", "/reports/7/pages", "no-policy"),
        ("PUT", "/elsewhere", "no-upstream"),
        ("PUT", "/reports/%2e%2e", "ambiguous-target"),
    ],
)
async def test_the_decision_is_the_data_paths(method: str, target: str, decision: str, admin: Admin) -> None:
    """As an agent would be answered; what no reader reads in one way is a refusal here too."""
    answer = await ask_about(admin, method=method, target=target)

    told = json.loads(answer.body)
    shown = told["answer"]["decision"] if answer.status == 200 else str(told["type"]).removeprefix("urn:fencegate:")
    assert shown == decision


async def test_headers_and_a_body_are_read(store_url: str, tmp_path: Path) -> None:
    """The body is JSON where no header says otherwise."""
    async with listening(store_url, tmp_path, policy=BY_BODY) as admin:
        key = [["Idempotency-Key", "order-17"]]
        whole = await ask_about(admin, method="POST", target="/mail", headers=key, body='{"box": "7"}')
        without_key = await ask_about(admin, method="POST", target="/mail", body='{"box": "7"}')
        without_body = await ask_about(admin, method="POST", target="/mail", headers=key)

    told = json.loads(whole.body)["answer"]
    assert (told["decision"], told["resource"], told["intent_key"]) == ("forwarded", "box/7", "order-17")
    assert json.loads(without_key.body)["answer"]["decision"] == "idempotency-key-required"
    assert json.loads(without_body.body)["answer"]["decision"] == "body-needed"


@pytest.mark.parametrize(
    ("document", "named"),
    [
        ({}, "method"),
        ({"method": "", "target": "/x"}, "method"),
        ({"method": "P" * 33, "target": "/x"}, "method"),
        ({"method": "PÜT", "target": "/x"}, "method"),
        ({"method": 7, "target": "/x"}, "method"),
        ({"method": "PUT"}, "target"),
        ({"method": "PUT", "target": "reports/7"}, "target"),
        ({"method": "PUT", "target": "http://localhost/reports/7"}, "target"),
        ({"method": "PUT", "target": "/x", "body": {}}, "body"),
        ({"method": "PUT", "target": "/x", "headers": {"Host": "x"}}, "headers"),
        ({"method": "PUT", "target": "/x", "headers": [["Host"]]}, "headers"),
        ({"method": "PUT", "target": "/x", "headers": [["", "x"]]}, "headers"),
        ({"method": "PUT", "target": "/x", "headers": [["Host", 1]]}, "headers"),
        ({"method": "PUT", "target": "/x", "headers": [["X", "a\r\nFencing-Token: 1"]]}, "headers"),
        ({"method": "PUT", "target": "/x", "principal": "nobody"}, "principal"),
        ({"method": "PUT", "target": "/x", "principal": 1}, "principal"),
        ({"method": "PUT", "target": "/x", "url": "/x"}, "url"),
    ],
    ids=lambda value: value if isinstance(value, str) else json.dumps(value),
)
async def test_a_slip_is_named(document: dict[str, object], named: str, admin: Admin) -> None:
    """And nothing is explained that was not asked."""
    answer = await ask_about(admin, **document)

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")
    assert f"`{named}`" in str(answer.problem["detail"])
