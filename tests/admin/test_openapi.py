"""The OpenAPI document of the admin API. That it tells the truth is seen by what all tests here are answered
(description.py), and by calls that nobody thought of (test_hostile_calls.py).
"""

import json
from pathlib import Path
from typing import Any

import pytest
from openapi_spec_validator import validate

from gateway.admin.auth import OPEN_PATHS
from gateway.admin.call import Answer, Call
from gateway.admin.calls import CALLS
from gateway.admin.openapi import PATH, describe
from gateway.admin.policies import list_policies
from gateway.core.decision import NO_SUCH_PAUSE, NOT_FOUND, STORE_UNAVAILABLE
from tests.admin.conftest import Admin, listening

TOKEN = "0123456789abcdef"


@pytest.fixture(scope="module")
def document() -> Any:
    """As it arrives."""
    return json.loads(json.dumps(describe(CALLS)))


async def test_the_listener_serves_its_description(admin: Admin, document: Any) -> None:
    """Every call, and this one too."""
    answer = await admin.call("GET", PATH)

    assert (answer.status, answer.value("Content-Type")) == (200, "application/json")
    assert json.loads(answer.body) == document


async def test_the_description_wants_the_token(store_url: str, tmp_path: Path) -> None:
    """As everything does that is not asked by orchestrators."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        assert (await admin.call("GET", PATH)).status == 401
        assert (await admin.call("GET", PATH, f"Authorization: Bearer {TOKEN}")).status == 200


def test_the_document_is_openapi(document: Any) -> None:
    """Of version 3.1, with every reference resolved."""
    assert document["openapi"] == "3.1.0"
    validate(document)


def test_every_shape_is_of_some_call(document: Any) -> None:
    """One that is left over describes nothing that is answered."""
    text = json.dumps(document)

    for name in document["components"]["schemas"]:
        assert f'"#/components/schemas/{name}"' in text, name


def test_who_may_call(document: Any) -> None:
    """Orchestrators need nothing; approvers their key, for what waits for an approval; everything else is an
    operator's.
    """
    security = {
        f"{method} {path}": [" ".join(way) for way in operation["security"]]
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
    }

    by_key = {call for call, ways in security.items() if ways == ["adminToken", "approverKey"]}
    assert by_key == {
        "get /api/v1/intents",
        "get /api/v1/intents/{id}",
        "get /api/v1/intents/{id}/body",
        "post /api/v1/intents/{id}/approve",
        "post /api/v1/intents/{id}/deny",
    }
    assert {call for call, ways in security.items() if ways == []} == {f"get {path}" for path in OPEN_PATHS}
    assert all(ways == ["adminToken"] for call, ways in security.items() if ways and call not in by_key)


def test_problems_are_told_by_their_status() -> None:
    """Several may have the same one: the type tells which it is. Some may come of any call."""
    call = Call(
        "GET", "/x/{id}", list_policies, "x", (Answer("x", {}),), (NOT_FOUND, NO_SUCH_PAUSE, STORE_UNAVAILABLE)
    )  # fmt: skip

    answers: Any = describe([call])["paths"]
    answers = answers["/x/{id}"]["get"]["responses"]

    types = {
        status: answer["content"]["application/problem+json"]["schema"]["allOf"][1]["properties"]["type"]["enum"]
        for status, answer in answers.items()
        if status != "200"
    }
    assert types == {
        "401": ["urn:fencegate:unauthenticated"],
        "403": ["urn:fencegate:forbidden"],
        "404": ["urn:fencegate:not-found", "urn:fencegate:no-such-pause"],
        "500": ["urn:fencegate:internal-error"],
        "503": ["urn:fencegate:store-unavailable"],
    }
