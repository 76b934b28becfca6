"""Writes of which nobody knows whether they happened."""

import json

from gateway.core.rule import Origin, Rule, Upstream
from gateway.core.write import Admitted, ResourceKey, Write
from tests.admin.conftest import Admin

RULE = Rule("write", Upstream("reports", Origin("http", "127.0.0.1", 9)), authority="header")
SEVEN = ResourceKey("report/7")


async def end_unknown(admin: Admin) -> Admitted:
    """A write that was sent and got no answer."""
    write = Write(RULE, SEVEN, 41, "agent-a", None)
    admitted = await admin.store.admit(write, admin.store.new_ticket(SEVEN), ttl_s=30, queued=False, behind=0)
    assert isinstance(admitted, Admitted)
    await admin.store.settle(admitted, "unknown", "no answer within 30 s")
    return admitted


async def test_a_write_that_ended_unknown_is_shown_with_its_reason(admin: Admin) -> None:
    """Its id is the one that its caller was told; it had no key."""
    admitted = await end_unknown(admin)

    answer = await admin.call("GET", "/api/v1/intents?state=unknown")

    (item,) = json.loads(answer.body)["items"]
    assert item.pop("created_at").endswith("Z")
    assert item.pop("updated_at").endswith("Z")
    assert item == {
        "id": admitted.ticket,
        "key": None,
        "state": "unknown",
        "upstream": "reports",
        "rule": "write",
        "resource": "report/7",
        "epoch": "41",
        "holder": "agent-a",
        "reason": "no answer within 30 s",
    }


async def test_a_write_in_flight_is_shown_with_its_resource(admin: Admin) -> None:
    """Who sent it, under which rule, and when it ends at the latest."""
    write = Write(RULE, SEVEN, 41, "agent-a", None)
    ticket = admin.store.new_ticket(SEVEN)
    await admin.store.admit(write, ticket, ttl_s=30, queued=False, behind=0)

    answer = await admin.call("GET", "/api/v1/resources/report/7")

    shown = json.loads(answer.body)
    (flying,) = shown["tickets"]
    assert shown["in_flight"] == 1
    assert flying.pop("deadline").endswith("Z")
    assert flying == {
        "id": ticket,
        "epoch": "41",
        "holder": "agent-a",
        "gateway": admin.store.gateway,
        "upstream": "reports",
        "rule": "write",
    }


async def test_states_that_are_not_recorded_are_refused(admin: Admin) -> None:
    """An empty list would say that there are none."""
    answer = await admin.call("GET", "/api/v1/intents?state=applied")

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")


async def test_nothing_unknown_is_an_empty_list(admin: Admin) -> None:
    """Unknown is what is asked for where nothing is said."""
    answer = await admin.call("GET", "/api/v1/intents")

    assert json.loads(answer.body) == {"items": [], "next": None}
