"""Resources as an operator sees them, and the way to end whoever writes one."""

import json
from urllib.parse import quote

import pytest

from gateway.core.lease import Lease
from gateway.core.token import digest_secret
from gateway.core.write import ResourceKey
from tests.admin.conftest import Admin
from tests.intending import SEVEN, begun, ended, intended

SECRET = digest_secret("a" * 32)


async def grant(admin: Admin, resource: ResourceKey, holder: str = "agent-a") -> Lease:
    lease = await admin.store.grant(resource, holder, SECRET, ttl_ms=60_000, takeover=True, watch=False)
    assert isinstance(lease, Lease)
    return lease


async def test_a_resource_shows_its_owner(admin: Admin) -> None:
    """Epochs are strings of digits: they pass what JSON readers keep exactly. A secret is not shown."""
    lease = await grant(admin, SEVEN)

    answer = await admin.call("GET", "/api/v1/resources/report/7")

    shown = json.loads(answer.body)
    assert shown.pop("lease")["ttl_s"] == 60
    assert [event["to"] for event in shown.pop("events")] == ["granted"]
    assert shown == {
        "resource": "report/7",
        "epoch": str(lease.epoch),
        "holder": "agent-a",
        "revision": "0",
        "in_flight": 0,
        "older_in_flight": 0,
        "pause": None,
        "tickets": [],
    }


async def test_a_write_in_flight_is_shown_with_its_resource(admin: Admin) -> None:
    """Who sent it, under which rule, for which intent, when it ends at the latest; and what happened last."""
    admitted = await begun(admin.store, intended("k-1"))

    answer = await admin.call("GET", "/api/v1/resources/report/7")

    shown = json.loads(answer.body)
    (flying,) = shown["tickets"]
    assert shown["in_flight"] == 1
    assert flying.pop("deadline").endswith("Z")
    assert flying == {
        "id": admitted.ticket,
        "epoch": "41",
        "holder": "agent-a",
        "gateway": admin.store.gateway,
        "upstream": "reports",
        "rule": "write",
        "intent": admitted.intent,
        "attempt": 1,
    }
    assert [(event["to"], event["intent"]) for event in shown["events"]] == [("in_flight", admitted.intent)]


async def test_a_resource_shows_its_newest_events(admin: Admin) -> None:
    """Not all of them: the audit trail has the rest."""
    for number in range(15):
        await ended(admin.store, intended(f"k-{number}"), "applied")

    events = json.loads((await admin.call("GET", "/api/v1/resources/report/7")).body)["events"]

    assert [event["number"] for event in events] == list(range(30, 10, -1))


@pytest.mark.parametrize("name", ["report/a b", "report/50%25", "report/é", "report/?x=1", "report/advance"])
async def test_a_resource_is_named_by_its_encoded_name(name: str, admin: Admin) -> None:
    """Whatever is in a name, percent-encoding it once is enough."""
    await grant(admin, ResourceKey(name))

    answer = await admin.call("GET", "/api/v1/resources/" + quote(name, safe=""))

    assert json.loads(answer.body)["resource"] == name


async def test_a_resource_that_nobody_has_seen_is_not_there(admin: Admin) -> None:
    """Asking for it makes no record of it."""
    answer = await admin.call("GET", "/api/v1/resources/report/8")

    assert (answer.status, answer.problem["resource"]) == (404, "report/8")
    assert json.loads((await admin.call("GET", "/api/v1/resources")).body) == {"items": [], "next": None}


async def test_resources_are_listed_by_their_beginning(admin: Admin) -> None:
    """A character that a search would take for a wildcard is a character."""
    for name in ("report/7", "report/8", "order/1", "r*"):
        await grant(admin, ResourceKey(name))

    async def names(prefix: str) -> list[str]:
        answer = await admin.call("GET", f"/api/v1/resources?prefix={quote(prefix)}")
        return sorted(item["resource"] for item in json.loads(answer.body)["items"])

    assert await names("") == ["order/1", "r*", "report/7", "report/8"]
    assert await names("report/") == ["report/7", "report/8"]
    assert await names("r*") == ["r*"]


async def test_a_cursor_that_was_not_handed_out_is_refused(admin: Admin) -> None:
    """In both lists."""
    for path in ("/api/v1/resources?cursor=x", "/api/v1/intents?cursor=x"):
        answer = await admin.call("GET", path)
        assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")


async def test_advancing_ends_whoever_writes(admin: Admin) -> None:
    """The lease is gone and the epoch larger: the token that was handed out is stale."""
    lease = await grant(admin, SEVEN)

    answer = await admin.call("POST", "/api/v1/resources/report/7/advance", body=b"{}")

    advanced = json.loads(answer.body)
    assert int(advanced["epoch"]) > lease.epoch
    shown = json.loads((await admin.call("GET", "/api/v1/resources/report/7")).body)
    assert (shown["epoch"], shown["holder"], shown["lease"]) == (advanced["epoch"], None, None)


async def test_advancing_to_an_epoch_is_exact(admin: Admin) -> None:
    """Over the whole 64-bit range; after the largest there is none."""
    largest = str(2**64 - 1)
    body = json.dumps({"epoch": largest}).encode()

    answer = await admin.call("POST", "/api/v1/resources/report/7/advance", body=body)
    beyond = await admin.call("POST", "/api/v1/resources/report/7/advance", body=b"{}")

    assert json.loads(answer.body) == {"resource": "report/7", "epoch": largest}
    assert (beyond.status, beyond.problem["type"]) == (409, "urn:fencegate:epochs-exhausted")


async def test_advancing_never_goes_back(admin: Admin) -> None:
    """An epoch that is not larger is stale, from an operator too."""
    lease = await grant(admin, SEVEN)

    answer = await admin.call("POST", "/api/v1/resources/report/7/advance", body=b'{"epoch": "5"}')

    assert (answer.status, answer.problem["highest_epoch"]) == (412, str(lease.epoch))
    assert str(answer.problem["detail"]).endswith("Name a larger one, or none for the next.")


@pytest.mark.parametrize(
    "body",
    [b"[]", b"{", b'{"epoch": "-1"}', b'{"epoch": "x"}', b'{"to": "5"}', b'{"epoch": 1.5}', b'{"epoch": true}',
     b'{"epoch": "5", "epoch": "6"}', b'{"epoch": ["5"]}', b'{"epoch": "18446744073709551616"}', b"\xff"],
)  # fmt: skip
async def test_a_malformed_advance_changes_nothing(body: bytes, admin: Admin) -> None:
    """It says what to send instead."""
    lease = await grant(admin, SEVEN)

    answer = await admin.call("POST", "/api/v1/resources/report/7/advance", body=body)

    assert (answer.status, answer.problem["action"]) == (400, "fix-request")
    shown = json.loads((await admin.call("GET", "/api/v1/resources/report/7")).body)
    assert shown["epoch"] == str(lease.epoch)


async def test_a_slip_in_a_name_makes_no_record(admin: Admin) -> None:
    """What no rule makes and nobody has written cannot be advanced."""
    answer = await admin.call("POST", "/api/v1/resources/reprot/7/advance", body=b"{}")

    assert (answer.status, answer.problem["type"]) == (404, "urn:fencegate:no-such-resource")
    assert json.loads((await admin.call("GET", "/api/v1/resources")).body)["items"] == []
