"""Notifications as operators see them, and sending one again."""

import json
from typing import Any

import pytest

from gateway.core.webhook import Again, Dead
from tests.admin.conftest import Admin
from tests.store.fences import INTENT, RESOURCE
from tests.telling import attempted, outbox_of, unknown

GONE = Dead("it answered 410: it wants no notifications")


async def listed(admin: Admin, query: str = "") -> list[dict[str, Any]]:
    answer = await admin.call("GET", f"/api/v1/notifications{query}")
    assert answer.status == 200, answer.body
    items: list[dict[str, Any]] = json.loads(answer.body)["items"]
    return items


async def test_a_dead_letter_says_what_it_is_of_and_why_it_died(admin: Admin) -> None:
    """Where no state is named."""
    await unknown(admin.store)
    id = await attempted(admin.store, GONE)

    (item,) = await listed(admin)

    assert item.pop("occurred_at").endswith("Z")
    assert item.pop("died_at").endswith("Z")
    assert item == {
        "id": id,
        "type": "intent.unknown",
        "state": "dead",
        "intent": INTENT,
        "intent_state": "unknown",
        "upstream": "reports",
        "rule": "replace",
        "resource": RESOURCE,
        "epoch": "42",
        "holder": "A",
        "reason": "no answer within 30 s",
        "attempts": 1,
        "failure": "it answered 410: it wants no notifications",
        "next_attempt_at": None,
    }


async def test_what_waits_is_a_list_of_its_own(admin: Admin) -> None:
    """It says when it is tried again."""
    await unknown(admin.store)
    await attempted(admin.store, Again(300.0, "it answered 500"))

    (item,) = await listed(admin, "?state=waiting")

    assert (item["state"], item["failure"], item["died_at"]) == ("waiting", "it answered 500", None)
    assert item["next_attempt_at"].endswith("Z")
    assert await listed(admin, "?state=dead") == []


@pytest.mark.parametrize("query", ["?state=sent", "?state=dead&state=waiting", "?stat=dead", "?cursor=nonsense"])
async def test_a_slip_in_the_query_is_told(admin: Admin, query: str) -> None:
    """It is not answered as if it were another question."""
    answer = await admin.call("GET", f"/api/v1/notifications{query}")

    assert answer.problem["type"] == "urn:fencegate:bad-request"


@pytest.mark.parametrize("body", [None, b"{}"], ids=["no body", "an empty document"])
async def test_a_dead_letter_is_sent_again(admin: Admin, raw: Any, body: bytes | None) -> None:
    """It waits, and is due."""
    await unknown(admin.store)
    id = await attempted(admin.store, GONE)

    answer = await admin.call("POST", f"/api/v1/notifications/{id}/retry", body=body)

    sent = json.loads(answer.body)
    assert (answer.status, sent["id"], sent["state"], sent["attempts"]) == (200, id, "waiting", 0)
    assert (outbox_of(raw), await listed(admin)) == ([id], [])


@pytest.mark.parametrize("id", ["nonsense", "fff1-0", "3ff1795977964637-0", "%00"])
async def test_what_is_gone_is_not_sent_again(admin: Admin, id: str) -> None:
    """Nor is what never was."""
    answer = await admin.call("POST", f"/api/v1/notifications/{id}/retry")

    assert (answer.status, answer.problem["type"]) == (404, "urn:fencegate:no-such-notification")


async def test_a_retry_takes_no_arguments(admin: Admin, raw: Any) -> None:
    """Whoever gives one expects something else to happen."""
    await unknown(admin.store)
    id = await attempted(admin.store, GONE)

    answer = await admin.call("POST", f"/api/v1/notifications/{id}/retry", body=b'{"url": "https://elsewhere"}')

    assert answer.status == 400
    assert outbox_of(raw, "dead") == [id]
