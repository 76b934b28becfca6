"""The quarantine as operators are shown it, take out of it and clear it."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import LEASE_EXPIRED
from gateway.core.kept_request import KeptRequest
from gateway.core.write import ResourceKey
from tests.admin.conftest import Admin
from tests.intending import RULE
from tests.lateness import BODY, late, quarantined
from tests.raw import RawAnswer

PAGE = b"<script>alert(1)</script>"
NOTE = b'{"note": "sent by hand"}'


async def listed(admin: Admin, query: str = "") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads((await admin.call("GET", f"/api/v1/quarantine{query}")).body)["items"]
    return items


async def shown(admin: Admin, id: str) -> Any:
    return json.loads((await admin.call("GET", f"/api/v1/quarantine/{id}")).body)


async def drop(admin: Admin, id: str, body: bytes = NOTE) -> RawAnswer:
    return await admin.call("DELETE", f"/api/v1/quarantine/{id}", body=body)


async def test_what_came_too_late_is_listed(admin: Admin) -> None:
    """The newest first, without the requests; by resource and by rule."""
    first = await quarantined(admin.store, late())
    second = await quarantined(admin.store, late(ResourceKey("report/8"), None, of=replace(RULE, name="send")))

    newest, oldest = await listed(admin)

    assert oldest["received_at"].endswith("Z") and oldest["expires_at"] > oldest["received_at"]
    assert {name: oldest[name] for name in oldest if not name.endswith("_at")} == {
        "id": first,
        "decision": "stale-epoch",
        "resource": "report/7",
        "epoch": "41",
        "highest_epoch": "42",
        "holder": "agent-a",
        "principal": "anonymous",
        "tenant": "default",
        "upstream": "reports",
        "rule": "write",
        "intent": None,
        "method": "PUT",
        "target": "/reports/7",
        "size": len(BODY),
        "truncated": False,
    }
    assert (newest["id"], newest["size"], newest["truncated"]) == (second, None, True)
    assert [item["id"] for item in await listed(admin, "?resource=report/7")] == [first]
    assert [item["id"] for item in await listed(admin, "?rule=send")] == [second]
    assert await listed(admin, "?rule=send&resource=report/7") == []


async def test_a_slip_in_the_query_is_not_passed_over(admin: Admin) -> None:
    """It would answer another question."""
    for query in ("?rules=x", "?rule=a&rule=b", "?cursor=x"):
        answer = await admin.call("GET", f"/api/v1/quarantine{query}")
        assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")


async def test_one_is_shown_with_its_request_and_its_steps(admin: Admin) -> None:
    """The target with its query, the body as text too where it is some."""
    id = await quarantined(admin.store, late(decision=LEASE_EXPIRED))

    found = await shown(admin, id)

    assert found["request"] == {
        "method": "PUT",
        "target": "/reports/7?draft=1",
        "headers": [["Content-Type", "application/json"]],
        "body": BODY.decode(),
        "body_base64": base64.b64encode(BODY).decode(),
    }
    assert [(event["to"], event["reason"]) for event in found["events"]] == [("quarantined", "lease-expired")]


@pytest.mark.parametrize(
    ("body", "text", "coded"),
    [
        pytest.param(b"\xff\x00", None, "/wA=", id="bytes that are no text"),
        pytest.param(b"", "", "", id="empty"),
        pytest.param(b"x" * ((1 << 20) + 1), None, None, id="too large for a document"),
        pytest.param(None, None, None, id="not kept"),
    ],
)
async def test_a_body_is_shown_as_far_as_it_can_be(
    admin: Admin, body: bytes | None, text: str | None, coded: str | None
) -> None:
    """The rest is had from its own path."""
    found = (await shown(admin, await quarantined(admin.store, late(body=body))))["request"]

    assert (found["body"], found["body_base64"]) == (text, coded)


@pytest.mark.parametrize(
    "body", [PAGE, b"", b"\x00\xff\r\n", b"x" * (2 << 20)], ids=["page", "empty", "bytes", "large"]
)
async def test_a_body_is_taken_out_byte_for_byte(admin: Admin, body: bytes) -> None:
    """As a file to be stored: an agent's page must not run on the operators' listener."""
    id = await quarantined(admin.store, late(body=body))

    answer = await admin.call("GET", f"/api/v1/quarantine/{id}/body")

    assert (answer.status, answer.body) == (200, body)
    assert answer.value("Content-Type") == "application/octet-stream"
    assert answer.value("Content-Disposition") == f'attachment; filename="{id}.bin"'
    assert answer.value("X-Content-Type-Options") == "nosniff"
    assert answer.value("Content-Security-Policy") == "default-src 'none'; sandbox; frame-ancestors 'none'"


async def test_a_body_with_a_coding_is_not_decoded(admin: Admin) -> None:
    """What is taken out is what came."""
    gzipped = KeptRequest("PUT", "/reports/7", ((b"Content-Encoding", b"gzip"),), b"\x1f\x8bnot really")
    id = await quarantined(admin.store, replace(late(), request=gzipped))

    answer = await admin.call("GET", f"/api/v1/quarantine/{id}/body")

    assert (answer.body, answer.value("Content-Encoding")) == (b"\x1f\x8bnot really", None)


async def test_of_a_head_alone_there_is_no_body(admin: Admin) -> None:
    """It is said why, and no empty file is written."""
    answer = await admin.call("GET", f"/api/v1/quarantine/{await quarantined(admin.store, late(body=None))}/body")

    assert (answer.status, answer.problem["type"]) == (404, "urn:fencegate:not-in-quarantine")
    assert "The head is all" in str(answer.problem["detail"])


async def test_a_dropped_one_is_gone_and_the_trail_says_why(admin: Admin) -> None:
    """The answer shows once more what it was."""
    id = await quarantined(admin.store, late())
    item = (await listed(admin))[0]

    answer = await drop(admin, id)

    assert (answer.status, json.loads(answer.body), await listed(admin)) == (200, item, [])
    trail = json.loads((await admin.call("GET", f"/api/v1/audit?intent={id}")).body)["items"]
    assert (trail[0]["to"], trail[0]["reason"], trail[0]["by"]) == ("dropped", "sent by hand", "operator")
    assert (await drop(admin, id)).status == 404


@pytest.mark.parametrize("body", [b"", b"{}", b'{"note": " "}', b'{"note": 1}', b'{"note": "x", "force": true}', b"[]"])
async def test_nothing_is_dropped_without_a_word(admin: Admin, body: bytes) -> None:
    """The note is for whoever looks for it later."""
    id = await quarantined(admin.store, late())

    answer = await drop(admin, id, body)

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")
    assert [item["id"] for item in await listed(admin)] == [id]


@pytest.mark.parametrize("id", ["3ff", "elsewhere", "%2e%2e", "3ff%0d%0aX:y", "3ff%22"])
@pytest.mark.parametrize(("method", "end"), [("GET", ""), ("GET", "/body"), ("DELETE", "")])
async def test_an_id_of_nothing_is_a_404(admin: Admin, method: str, end: str, id: str) -> None:
    """With where to look."""
    answer = await admin.call(method, f"/api/v1/quarantine/{id}{end}", body=NOTE if method == "DELETE" else None)

    assert answer.status == 404
    assert answer.problem["type"] in ("urn:fencegate:not-in-quarantine", "urn:fencegate:not-found")
