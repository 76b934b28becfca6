"""Pauses: an operator stops all writes of a resource, and lets them go on."""

import json
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.write import Admitted, ResourceKey
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


@pytest.mark.parametrize("selector", ["upstream", "rule", "tenant", "holder"])
async def test_a_selector_that_is_not_built_is_named(selector: str, admin: Admin) -> None:
    """Nobody believes that a whole upstream stands still when it does not."""
    answer = await stop(admin, **{selector: "reports", "reason": WHY})

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")
    assert f"pausing a whole {selector} is not built yet" in str(answer.problem["detail"])


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
