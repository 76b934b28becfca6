"""The queries of the lists: each parameter once, and none that the list does not know."""

import pytest

from tests.admin.conftest import Admin

LISTS = ["resources", "intents", "audit", "pauses"]


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("query", ["size=5", "cursor=1&cursor=1", "cursor=&cursor=", "Cursor=1", "%00=1", "x"])
async def test_a_parameter_that_would_be_passed_over_is_refused(query: str, name: str, admin: Admin) -> None:
    """The answer would be that to another question."""
    answer = await admin.call("GET", f"/api/v1/{name}?{query}")

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")


@pytest.mark.parametrize("name", LISTS)
async def test_an_empty_value_is_no_value(name: str, admin: Admin) -> None:
    """As a script leaves it."""
    assert (await admin.call("GET", f"/api/v1/{name}?cursor=")).status == 200


async def test_the_list_says_what_it_takes(admin: Admin) -> None:
    """The next try is right."""
    answer = await admin.call("GET", "/api/v1/intents?limit=5")

    assert answer.problem["detail"] == "The list does not know 'limit': it takes `state`, `cursor`."
