"""The policies in force, as operators see them and have them read again."""

import json

import pytest

from gateway.policy.finding import Finding
from tests.admin.conftest import Admin

RELOAD = "/api/v1/policies/reload"


async def test_policies_are_shown_without_credentials(admin: Admin) -> None:
    """Each upstream with its rules."""
    (policy,) = json.loads((await admin.call("GET", "/api/v1/policies")).body)["items"]

    assert (policy["upstream"], policy["mount"]) == ("reports", {"path": "/reports", "host": None})
    assert (policy["reads"], policy["read_only"], policy["closed"]) == ("pass", 0, 0)
    assert policy["rules"] == [
        {
            "name": "write",
            "match": ["PUT,POST,PATCH,DELETE /reports/{id}"],
            "resource": "report/{path.id}",
            "authority": "lease",
            "mode": "enforce",
            "intent": "off",
            "parks": None,
            "on_stale": "reject",
            "risk": "low",
            "compensated": False,
            "only": False,
            "values": {"path.id": "unreserved"},
        }
    ]


@pytest.mark.parametrize("body", [None, b"", b"{}"])
async def test_a_reload_has_nothing_to_say(body: bytes | None, admin: Admin) -> None:
    """An object without members, or nothing."""
    answer = await admin.call("POST", RELOAD, body=body)

    assert (answer.status, json.loads(answer.body), admin.reloads) == (200, {"status": "loaded"}, ["reload"])


@pytest.mark.parametrize("body", [b'{"files": ["a.yaml"]}', b"[]", b"{", b"\xff"])
async def test_a_reload_that_says_something_is_refused(body: bytes, admin: Admin) -> None:
    """Who names a file expects that no other is read."""
    answer = await admin.call("POST", RELOAD, body=body)

    assert (answer.status, answer.problem["type"], admin.reloads) == (400, "urn:fencegate:bad-request", [])


async def test_a_reload_says_what_is_wrong(admin: Admin) -> None:
    """File, line and column of each fault."""
    admin.findings = (Finding("a.yaml", 3, 5, "there is no such field"),)

    answer = await admin.call("POST", RELOAD, body=b"{}")

    assert answer.status == 422
    assert answer.problem["findings"] == [
        {"file": "a.yaml", "line": 3, "column": 5, "message": "there is no such field", "severity": "error"}
    ]
