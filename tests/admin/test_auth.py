"""Who may call the admin listener: whoever has the token, and no page of another site."""

import json
from pathlib import Path

import pytest

from tests.admin.conftest import Admin, listening

TOKEN = "0123456789abcdef"
GUARDED = [
    "/", "/metrics", "/api/v1/resources", "/api/v1/resources/report/7", "/api/v1/intents", "/api/v1/intents/3ffabc",
    "/api/v1/audit", "/api/v1/pauses", "/api/v1/policies",
]  # fmt: skip


@pytest.mark.parametrize("path", GUARDED)
async def test_where_a_token_is_set_it_is_wanted(path: str, store_url: str, tmp_path: Path) -> None:
    """Without the token, or with another, nothing is shown; the answer names the scheme."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        without = await admin.call("GET", path)
        wrong = await admin.call("GET", path, f"Authorization: Bearer {TOKEN}x")
        of_other_scheme = await admin.call("GET", path, f"Authorization: Basic {TOKEN}")

    for answer in (without, wrong, of_other_scheme):
        assert (answer.status, answer.problem["type"]) == (401, "urn:fencegate:unauthenticated")
        assert answer.value("WWW-Authenticate") == "Bearer"


async def test_with_the_token_everything_is_open(store_url: str, tmp_path: Path) -> None:
    """The scheme's name is not case-sensitive."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        assert (await admin.call("GET", "/api/v1/policies", f"Authorization: bearer {TOKEN}")).status == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
async def test_an_orchestrator_needs_no_token(path: str, store_url: str, tmp_path: Path) -> None:
    """Health says whether the gateway serves, and nothing else."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        assert (await admin.call("GET", path)).status == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8081", "127.0.0.1.evil.example", "192.0.2.1", ""])
async def test_a_name_that_was_rebound_to_loopback_is_refused(host: str, admin: Admin) -> None:
    """A page of another site cannot reach the listener through the operator's browser."""
    answer = await admin.call("POST", "/api/v1/policies/reload", host=host)

    assert (answer.status, answer.problem["type"]) == (403, "urn:fencegate:forbidden")
    assert admin.reloads == []


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:8081", "127.0.0.1:8081", "[::1]:8081", "[::1]"])
async def test_loopback_names_are_served(host: str, admin: Admin) -> None:
    """With or without the port."""
    assert (await admin.call("GET", "/api/v1/policies", host=host)).status == 200


async def test_a_listener_for_other_machines_has_any_name(store_url: str, tmp_path: Path) -> None:
    """There the token decides."""
    async with listening(store_url, tmp_path, token=TOKEN, on_loopback=False) as admin:
        answer = await admin.call("GET", "/api/v1/policies", f"Authorization: Bearer {TOKEN}", host="gateway.internal")
        assert answer.status == 200


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
async def test_what_a_form_can_send_changes_nothing(kind: str, admin: Admin) -> None:
    """A form is sent without asking; JSON from another site is not."""
    answer = await admin.call("POST", "/api/v1/policies/reload", f"Content-Type: {kind}", body=b"{}")

    assert (answer.status, answer.problem["type"]) == (400, "urn:fencegate:bad-request")
    assert admin.reloads == []


@pytest.mark.parametrize("host", ["evil.example", "192.0.2.1"])
async def test_no_page_of_another_site_ends_a_pause(host: str, admin: Admin) -> None:
    """A browser asks before it sends DELETE to another site, and gets no permission; a rebound name is refused."""
    begun = await admin.call("POST", "/api/v1/pauses", body=b'{"resource": "report/7", "reason": "x"}')
    id = json.loads(begun.body)["id"]

    asked = await admin.call("OPTIONS", f"/api/v1/pauses/{id}", "Origin: https://evil.example")
    rebound = await admin.call("DELETE", f"/api/v1/pauses/{id}", host=host)

    assert asked.status == 405
    assert [name for name, _ in asked.fields if name.lower().startswith("access-control")] == []
    assert (rebound.status, rebound.problem["type"]) == (403, "urn:fencegate:forbidden")
    assert (await admin.call("DELETE", f"/api/v1/pauses/{id}", "Content-Type: text/plain")).status == 200
