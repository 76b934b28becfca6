"""What a page of another site can make an operator's browser do at the admin listener: nothing."""

import json
from pathlib import Path

import pytest

from gateway.admin.browser import own_name
from gateway.admin.calls import CALLS
from tests.admin.conftest import Admin, listening

TOKEN = "0123456789abcdef"
RELOAD = "/api/v1/policies/reload"


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


@pytest.mark.parametrize(
    "fields",
    [
        ("Sec-Fetch-Site: cross-site",),
        ("Sec-Fetch-Site: same-site",),
        ("Origin: https://evil.example",),
        ("Origin: null",),
        ("Origin: http://localhost:1",),
        ("Origin: http://[",),
        ("Sec-Fetch-Site: same-origin", "Origin: http://localhost.evil.example"),
    ],
    ids=["other site", "sibling", "other origin", "no origin", "other port", "no URL", "two minds"],
)
async def test_what_a_browser_says_it_asks_for_another_site_is_refused(fields: tuple[str, ...], admin: Admin) -> None:
    """Also as JSON, and where the token is right: the browser would have added it."""
    answer = await admin.call("POST", RELOAD, *fields)

    assert (answer.status, answer.problem["type"]) == (403, "urn:fencegate:forbidden")
    assert admin.reloads == []


@pytest.mark.parametrize(
    "fields",
    [(), ("Sec-Fetch-Site: same-origin", "Origin: http://localhost"), ("Sec-Fetch-Site: none",)],
    ids=["no browser", "own page", "typed"],
)
async def test_what_its_own_page_asks_for_is_done(fields: tuple[str, ...], admin: Admin) -> None:
    """And so is what no browser has sent."""
    assert (await admin.call("POST", RELOAD, *fields)).status == 200


async def test_the_name_that_operators_use_is_its_own(store_url: str, tmp_path: Path) -> None:
    """`--admin-url`: a proxy on the machine may pass it on, with its page's origin."""
    async with listening(store_url, tmp_path, known_as="fence.internal:8443") as admin:
        origin = "Origin: https://fence.internal:8443"
        passed_on = await admin.call("POST", RELOAD, origin, host="fence.internal:8443")
        renamed = await admin.call("POST", RELOAD, origin)
        others = await admin.call("POST", RELOAD, host="fence.internal:8444")

    assert (passed_on.status, renamed.status, others.status) == (200, 200, 403)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://Fence.Internal:8443/console", "fence.internal:8443"),
        ("https://fence.internal:443", "fence.internal"),
        ("http://fence.internal:80/", "fence.internal"),
        ("https://fence.internal:80", "fence.internal:80"),
        (None, None),
    ],
)
def test_that_name_is_spelled_as_browsers_spell_it(url: str | None, name: str | None) -> None:
    """In lower case, and without the port that nobody has to name."""
    assert own_name(url) == name


async def test_no_answer_is_guessed_at_kept_or_framed(store_url: str, tmp_path: Path) -> None:
    """What is refused for its token neither."""
    async with listening(store_url, tmp_path, token=TOKEN) as admin:
        paths = [(call.method, call.path) for call in CALLS if call.method == "GET"]
        for at, (method, path) in enumerate([*paths, ("GET", "/none"), ("POST", "/api/v1/pauses")]):
            named = path.replace("{resource}", "r").replace("{id}", "x").replace("{file}", "none")
            answer = await admin.call(method, named, *(f"Authorization: Bearer {TOKEN}",) * (at % 5 > 0))

            assert answer.value("X-Content-Type-Options") == "nosniff", path
            assert answer.value("X-Frame-Options") == "DENY", path
            assert "frame-ancestors 'none'" in str(answer.value("Content-Security-Policy")), path
            assert answer.value("Cache-Control") in ("no-store", "no-cache"), path
