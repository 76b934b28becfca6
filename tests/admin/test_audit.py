"""The audit trail as operators read it."""

import json
from typing import Any
from urllib.parse import quote

import pytest

from gateway.core.problem import instant
from gateway.core.write import ResourceKey
from tests.admin.conftest import Admin
from tests.intending import SEVEN, ended, intended
from tests.store.fences import SECRET

OTHER = ResourceKey("order/1 é&x")


async def trail(admin: Admin, query: str = "") -> list[dict[str, Any]]:
    answer = await admin.call("GET", f"/api/v1/audit{query}")
    assert answer.status == 200, answer.body
    items: list[dict[str, Any]] = json.loads(answer.body)["items"]
    return items


async def test_an_event_says_who_did_what_to_what(admin: Admin) -> None:
    """The newest comes first."""
    admitted = await ended(admin.store, intended("k-1"), "applied")

    event, before = await trail(admin)

    assert event.pop("at").endswith("Z")
    assert event == {
        "number": 2,
        "intent": admitted.intent,
        "from": "in_flight",
        "to": "applied",
        "resource": "report/7",
        "ticket": admitted.ticket,
        "epoch": "41",
        "holder": "agent-a",
        "upstream": "reports",
        "rule": "write",
        "input": "01ff",
        "reason": "answered 201",
        "by": admin.store.gateway,
        "principal": None,
        "trace_id": None,
    }
    assert (before["number"], before["from"], before["to"]) == (1, None, "in_flight")


async def test_events_are_those_that_are_asked_for(admin: Admin) -> None:
    """By resource, by intent, by both."""
    first = await ended(admin.store, intended("k-1"), "applied")
    second = await ended(admin.store, intended("k-2", OTHER), "applied")

    of_resource = await trail(admin, f"?resource={quote(OTHER, safe='')}")
    of_intent = await trail(admin, f"?intent={first.intent}")
    of_both = await trail(admin, f"?intent={first.intent}&resource={quote(OTHER, safe='')}")

    assert {event["intent"] for event in of_resource} == {second.intent}
    assert {event["intent"] for event in of_intent} == {first.intent}
    assert of_both == []


async def test_events_are_not_older_than_is_asked_for(admin: Admin) -> None:
    """An instant in any zone, or that long ago by the store's clock."""
    await ended(admin.store, intended("k-1"), "applied")
    ahead = instant(admin.store.expected_ms() + 3_600_000)

    for since, wanted in (
        ("1h", 2),
        ("7d", 2),
        ("999999999d", 2),
        ("1970-01-01T00:00:00Z", 2),
        ("0001-01-01T00:00:00%2B14:00", 2),
        ("9999-12-31T23:59:59-12:00", 0),
        (ahead, 0),
    ):
        assert len(await trail(admin, f"?since={since}")) == wanted, since


async def test_a_trail_goes_on_with_its_cursor(admin: Admin) -> None:
    """Over all shards, and within one."""
    for number in range(60):
        await ended(admin.store, intended(f"k-{number}"), "applied")

    for query in ("?", "?resource=report/7&"):
        answer = json.loads((await admin.call("GET", f"/api/v1/audit{query}")).body)
        rest = await trail(admin, f"{query}cursor={answer['next']}")
        numbers = [event["number"] for event in (*answer["items"], *rest)]
        assert numbers == list(range(120, 0, -1))


async def test_events_are_not_younger_than_is_asked_for(admin: Admin) -> None:
    """`until` an instant, that one included; the pages after the first go on below it."""
    for number in range(3):
        await ended(admin.store, intended(f"k-{number}"), "applied")
    newest, *_ = await trail(admin)

    assert await trail(admin, "?until=1h") == []
    assert await trail(admin, "?until=1970-01-01T00:00:00Z&resource=report/7") == []
    for query in (f"?until={newest['at']}", f"?until={newest['at']}&resource=report/7"):
        assert [event["number"] for event in await trail(admin, query)] == [6, 5, 4, 3, 2, 1]


async def test_a_page_is_as_long_as_is_asked_for(admin: Admin) -> None:
    """Of all, and of a resource."""
    for number in range(60):
        await ended(admin.store, intended(f"k-{number}"), "applied")

    for query in ("?limit=110", "?limit=110&resource=report/7"):
        assert [event["number"] for event in await trail(admin, query)] == list(range(120, 10, -1))


async def test_what_is_of_no_intent_has_none(admin: Admin) -> None:
    """A grant is a resource's."""
    await admin.store.grant(SEVEN, "agent-a", SECRET, ttl_ms=60_000, takeover=False, watch=False)

    (event,) = await trail(admin)

    assert (event["to"], event["intent"], event["holder"]) == ("granted", None, "agent-a")


@pytest.mark.parametrize(
    "query",
    ["limit=0", "limit=1001", "limit=x", "until=tomorrow", "since=yesterday",
     "since=1", "since=-1h", "since=2026-03-01", "since=2026-03-01T08:00:00",
     "since=2026-03-01T08:00:00+01:00", "since=1w", "since=2026-13-01T00:00:00Z", "intent=x", "intent=400abc",
     "intent=3ff%20*", "cursor=x", "resource=a&resource=b", "resorce=a"],
)  # fmt: skip
async def test_a_slip_in_a_query_is_refused(query: str, admin: Admin) -> None:
    """An empty trail would say that nothing happened."""
    answer = await admin.call("GET", f"/api/v1/audit?{query}")

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")


async def test_a_resource_that_nobody_has_written_has_no_events(admin: Admin) -> None:
    """A name is not a fault."""
    await ended(admin.store, intended("k-1"), "applied")

    assert await trail(admin, "?resource=report/8") == []
    assert len(await trail(admin, f"?resource={SEVEN}&since=")) == 2
