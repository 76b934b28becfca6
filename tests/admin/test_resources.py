"""Resources as an operator sees them, and the way to end whoever writes one."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from gateway.core.epoch import Epoch
from gateway.core.lease import Lease
from gateway.core.token import digest_secret
from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys
from tests.admin.conftest import Admin, listening
from tests.intending import SEVEN, begun, ended, intended
from tests.raw import RawClient
from tests.stack import POLICY

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
    assert flying.pop("unfinished") is False
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


@pytest.mark.parametrize(
    "target",
    [
        "http://localhost/api/v1/resources/report%2F7",
        "/api/v1/%72esources/report%2F7",
        "/api/v1/resources/report%2f7#part",
    ],
    ids=["as to a proxy", "a spelling of the path", "a part of it"],
)
async def test_a_name_is_read_as_the_route_is(target: str, admin: Admin) -> None:
    """However the path before it is spelled."""
    await grant(admin, SEVEN)

    async with RawClient(admin.port) as client:
        await client.send(f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        answer = await client.answer()

    assert json.loads(answer.body)["resource"] == SEVEN


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


async def test_advancing_what_is_counted_elsewhere_leaves_the_next_numbers(store_url: str, tmp_path: Path) -> None:
    """Under `header` and `signed` authority; the store's clock is no number of theirs."""
    policy = POLICY.format(port=9) + "    authority: header\n"
    async with listening(store_url, tmp_path, policy=policy) as admin:
        await admin.store.register(SEVEN, Epoch(7), "A", watch=False)

        answer = await admin.call("POST", "/api/v1/resources/report/7/advance", body=b"{}")

        assert json.loads(answer.body) == {"resource": "report/7", "epoch": "8"}


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


async def test_an_epoch_that_is_the_last_one_can_be_forgotten(admin: Admin) -> None:
    """Then a lease can be granted again; the trail has the note."""
    await admin.call("POST", "/api/v1/resources/report/7/advance", body=b'{"epoch": "18446744073709551615"}')

    answer = await admin.call("POST", "/api/v1/resources/report/7/reset", body=b'{"note": "a test ran away"}')

    assert json.loads(answer.body) == {"resource": "report/7", "forgotten_epoch": "18446744073709551615"}
    await grant(admin, SEVEN)
    events = json.loads((await admin.call("GET", "/api/v1/resources/report/7")).body)["events"]
    assert [(event["to"], event["reason"]) for event in events[1:2]] == [("reset", "a test ran away")]


async def test_an_epoch_in_use_is_not_forgotten(admin: Admin) -> None:
    """What to do first is said."""
    await begun(admin.store, intended("k-1"))

    answer = await admin.call("POST", "/api/v1/resources/report/7/reset", body=b'{"note": "x"}')

    assert (answer.status, answer.problem["type"]) == (409, "urn:fencegate:wrong-state")
    assert "1 writes of the resource are in flight" in str(answer.problem["detail"])


@pytest.mark.parametrize("body", [b"{}", b'{"note": ""}', b'{"note": "x", "epoch": "one"}'])
async def test_an_epoch_is_forgotten_for_a_reason(body: bytes, admin: Admin) -> None:
    """Without one nothing happens."""
    lease = await grant(admin, SEVEN)

    answer = await admin.call("POST", "/api/v1/resources/report/7/reset", body=body)

    assert (answer.status, answer.problem["action"]) == (400, "fix-request")
    assert json.loads((await admin.call("GET", "/api/v1/resources/report/7")).body)["epoch"] == str(lease.epoch)


def make_old(raw: Any, *names: str) -> None:
    """Records of leases that ended years ago."""
    for name in names:
        raw.hset(resource_keys(ResourceKey(name))[0], mapping={"v": 1, "e": 7, "h": "A", "s": SECRET, "x": 0})


async def test_records_of_old_leases_are_pruned(admin: Admin, raw: Any) -> None:
    """Those whose names begin so; first they may be counted."""
    make_old(raw, "report/1", "report/2", "order/1")
    await grant(admin, SEVEN)

    async def prune(**document: object) -> object:
        answer = await admin.call("POST", "/api/v1/resources/prune", body=json.dumps(document).encode())
        return json.loads(answer.body)

    assert await prune(prefix="report/", dry_run=True) == {"looked_at": 3, "pruned": 2, "next": None}
    assert await prune(prefix="report/") == {"looked_at": 3, "pruned": 2, "next": None}
    assert await prune(cursor=None) == {"looked_at": 2, "pruned": 1, "next": None}


@pytest.mark.parametrize(
    "body", [b'{"prefix": 7}', b'{"dry_run": "yes"}', b'{"cursor": 0}', b'{"cursor": "x"}', b'{"all": true}']
)
async def test_a_malformed_prune_changes_nothing(body: bytes, admin: Admin, raw: Any) -> None:
    """It says what to send instead."""
    make_old(raw, "report/1")

    answer = await admin.call("POST", "/api/v1/resources/prune", body=body)

    assert (answer.status, answer.problem["action"]) == (400, "fix-request")
    assert len(raw.keys("*f:report/1")) == 1
