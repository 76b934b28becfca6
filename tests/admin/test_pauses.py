"""Pauses: an operator stops writes, and lets them go on."""

import json
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.write import Admitted, ResourceKey
from gateway.store.pauses import PauseRecords
from tests.admin.conftest import Admin
from tests.intending import SEVEN, begun, intended
from tests.raw import RawAnswer

WHY = "the upstream sends everything twice"


async def stop(admin: Admin, **document: object) -> RawAnswer:
    return await admin.call("POST", "/api/v1/pauses", body=json.dumps(document).encode())


async def listed(admin: Admin, query: str = "") -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = json.loads((await admin.call("GET", f"/api/v1/pauses{query}")).body)["items"]
    return items


async def admission(admin: Admin, resource: ResourceKey = SEVEN) -> object:
    """What a write gets now."""
    write = intended("k-1", resource)
    return await admin.store.admit(write, admin.store.new_ticket(resource), ttl_s=30, queued=False, behind=0)


async def test_a_pause_stops_all_writes_until_it_ends(admin: Admin) -> None:
    """It says who began it, when and why; other resources go on."""
    answer = await stop(admin, resource="report/7", reason=WHY)

    pause = json.loads(answer.body)
    assert answer.status == 201
    assert (pause["resource"], pause["reason"], pause["by"]) == ("report/7", WHY, "operator")
    assert pause["created_at"].endswith("Z")
    refused = await admission(admin)
    assert isinstance(refused, Refused)
    assert refused.decision.name == "paused"
    assert isinstance(await admission(admin, ResourceKey("report/8")), Admitted)

    ended = await admin.call("DELETE", f"/api/v1/pauses/{pause['id']}")

    assert (ended.status, json.loads(ended.body)) == (200, pause)
    assert isinstance(await admission(admin), Admitted)


async def test_a_pause_is_listed_and_shown_with_its_resource(admin: Admin) -> None:
    """By its resource alone, too."""
    await begun(admin.store, intended(None))
    pause = json.loads((await stop(admin, resource="report/7", reason=WHY)).body)
    await stop(admin, resource="report/8", reason=WHY)

    shown = json.loads((await admin.call("GET", "/api/v1/resources/report/7")).body)

    assert [item["resource"] for item in await listed(admin)] == ["report/8", "report/7"]
    assert await listed(admin, "?resource=report/7") == [pause]
    assert await listed(admin, "?resource=report/9") == []
    assert shown["pause"] == pause


async def test_a_resource_that_was_never_written_can_be_paused(admin: Admin) -> None:
    """An agent may be about to write it for the first time."""
    await stop(admin, resource="report/99", reason=WHY)

    shown = await admin.call("GET", "/api/v1/resources/report/99")

    assert isinstance(await admission(admin, ResourceKey("report/99")), Refused)
    assert (shown.status, "It is paused" in str(shown.problem["detail"])) == (404, True)


async def test_a_pause_that_is_in_force_stays_as_it_is(admin: Admin) -> None:
    """Whoever pauses again is told of the first one: 200 and not 201."""
    first = await stop(admin, resource="report/7", reason=WHY)
    second = await stop(admin, resource="report/7", reason="me too")

    assert (second.status, second.body) == (200, first.body)
    assert len(await listed(admin)) == 1


async def test_a_pause_ends_once(admin: Admin) -> None:
    """The id of one that has ended does not end the next."""
    first = json.loads((await stop(admin, resource="report/7", reason=WHY)).body)["id"]
    await admin.call("DELETE", f"/api/v1/pauses/{first}")
    await stop(admin, resource="report/7", reason=WHY)

    again = await admin.call("DELETE", f"/api/v1/pauses/{first}")

    assert (again.status, again.problem["title"]) == (404, "There is no such pause")
    assert len(await listed(admin)) == 1


@pytest.mark.parametrize("id", ["x", "3ff", "400abc", "%00", "3ff%2Fa", "%20"])
async def test_what_is_no_id_ends_nothing(id: str, admin: Admin) -> None:
    """It is told apart from a pause that has ended by nobody: both are not there."""
    await stop(admin, resource="report/7", reason=WHY)

    assert (await admin.call("DELETE", f"/api/v1/pauses/{id}")).status == 404
    assert len(await listed(admin)) == 1


async def test_a_slip_in_a_name_pauses_nothing(admin: Admin) -> None:
    """It would look as if the writes were stopped."""
    answer = await stop(admin, resource="reprot/7", reason=WHY)

    assert (answer.status, answer.problem["type"]) == (404, "urn:fencegate:no-such-resource")
    assert await listed(admin) == []


@pytest.mark.parametrize(
    "selector",
    [
        {"all": True},
        {"upstream": "reports"},
        {"rule": "write"},
        {"upstream": "reports", "rule": "write"},
        {"tenant": "default"},
        {"holder": "agent é"},
    ],
    ids=lambda selector: " in ".join(sorted(selector, reverse=True)),
)
async def test_a_pause_may_be_wider_than_a_resource(selector: dict[str, object], admin: Admin) -> None:
    """Told as it was asked for; begun again it is the first one; ended once, by its id."""
    answer = await stop(admin, **selector, reason=WHY)
    pause = json.loads(answer.body)

    assert answer.status == 201
    assert pause == {**selector, "id": pause["id"], "reason": WHY, "by": "operator", "created_at": pause["created_at"]}
    again = await stop(admin, **selector, reason="me too")
    assert (again.status, again.body) == (200, answer.body)
    assert await listed(admin) == [pause]
    assert [scope.kind for scope in await PauseRecords(admin.store).in_force()] == [list(selector)[-1]]

    ended = await admin.call("DELETE", f"/api/v1/pauses/{pause['id']}")
    too_late = await admin.call("DELETE", f"/api/v1/pauses/{pause['id']}")

    assert (ended.status, json.loads(ended.body), too_late.status) == (200, pause, 404)
    assert await listed(admin) == []


async def test_pauses_of_all_kinds_are_one_list(admin: Admin) -> None:
    """The newest first; with a resource, its own only."""
    for selector in ({"resource": "report/7"}, {"upstream": "reports"}, {"resource": "report/8"}, {"all": True}):
        await stop(admin, **selector, reason=WHY)

    pauses = await listed(admin)
    kinds = [next(name for name in ("resource", "upstream", "all") if name in item) for item in pauses]
    begun = [item["created_at"] for item in pauses]

    # Two of one millisecond may stand either way.
    assert sorted(kinds) == ["all", "resource", "resource", "upstream"]
    assert begun == sorted(begun, reverse=True)
    assert [item["resource"] for item in await listed(admin, "?resource=report/7")] == ["report/7"]


async def test_who_paused_what_is_in_the_audit_trail(admin: Admin) -> None:
    """What the event is not about is null."""
    pause = json.loads((await stop(admin, upstream="reports", reason=WHY)).body)
    await admin.call("DELETE", f"/api/v1/pauses/{pause['id']}")

    trail = json.loads((await admin.call("GET", f"/api/v1/audit?intent={pause['id']}")).body)["items"]

    assert [(event["from"], event["to"], event["by"]) for event in trail] == [
        ("paused", "resumed", "operator"),
        (None, "paused", "operator"),
    ]
    for event in trail:
        assert (event["upstream"], event["reason"]) == ("reports", f"all writes of upstream reports: {WHY}")
        assert [event[name] for name in ("resource", "ticket", "epoch", "rule", "holder")] == [None] * 5


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"resource": "report/7"},
        {"reason": WHY},
        {"resource": "", "reason": WHY},
        {"resource": ["report/7"], "reason": WHY},
        {"resource": 7, "reason": WHY},
        {"resource": "report/7", "reason": ""},
        {"resource": "report/7", "reason": "a\x07b"},
        {"resource": "report/7", "reason": "x" * 501},
        {"resource": "report/7", "reason": WHY, "until": "tomorrow"},
        {"resource": "report/7", "holder": "agent-a", "reason": WHY},
        {"upstream": "reports"},
        {"all": True},
        {"all": False, "reason": WHY},
        {"all": "true", "reason": WHY},
        {"all": True, "upstream": "reports", "reason": WHY},
        ["report/7"],
    ],
    ids=lambda document: ascii(document)[:60],
)
async def test_a_malformed_pause_pauses_nothing(document: object, admin: Admin) -> None:
    """It says what to send instead."""
    answer = await admin.call("POST", "/api/v1/pauses", body=json.dumps(document).encode())

    assert (answer.status, answer.problem["action"]) == (400, "fix-request")
    assert await listed(admin) == []


@pytest.mark.parametrize("query", ["cursor=x", "resource=a&resource=b", "holder=a"])
async def test_a_slip_in_a_query_is_refused(query: str, admin: Admin) -> None:
    """As in the other lists."""
    assert (await admin.call("GET", f"/api/v1/pauses?{query}")).status == 400
