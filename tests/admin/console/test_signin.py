"""The way in: where there is a token, or an approver's key, and where the store is away."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.async_api import Page, Route, expect

from gateway.store.embedded import find_server
from tests.admin.conftest import Admin, listening
from tests.admin.console.browser import browsing, shown
from tests.admin.test_approver import ANNA, PRINCIPALS
from tests.store.parked import APPROVED, POLICY, mail, parked
from tests.store.server import Server

pytestmark = pytest.mark.slow

TOKEN = "0123456789abcdef"


@pytest.fixture
async def guarded(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    """A listener with a token and an approver, and a write that waits."""
    for name in ("anna", "ben", "carl", "dora", "eve"):
        (tmp_path / name).write_text(ANNA if name == "anna" else f"key-of-{name}-0123456789")
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "principals.yaml").write_text(PRINCIPALS.replace("KEYS", str(tmp_path)))
    async with listening(store_url, tmp_path, token=TOKEN, policy=POLICY) as admin:
        await parked(admin.store, replace(mail("one", of=APPROVED), principal="ben"))
        yield admin


async def _enter(page: Page, token: str = "", key: str = "") -> None:
    await page.get_by_label("Admin token").fill(token)
    if key:
        await page.get_by_text("I approve writes").click()
        await page.get_by_label("Key of an approver").fill(key)
    await page.get_by_role("button", name="Sign in").click()


async def test_a_token_is_asked_for_once_a_tab(guarded: Admin) -> None:
    """It survives a reload, is in no other tab, and is gone with the way out."""
    async with browsing(f"http://127.0.0.1:{guarded.port}", refused=(401,)) as page:
        await shown(page, "#/resources", "Sign in")
        await _enter(page, f"{TOKEN}x")
        wrong = page.get_by_role("alert").filter(has_text="not the admin token of this gateway")
        await expect(wrong).to_be_visible()
        await page.get_by_label("Admin token").fill("0")
        await expect(wrong).to_have_count(0)
        await _enter(page, TOKEN)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Resources")
        await page.reload()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Resources")
        kept = await page.evaluate("() => [localStorage.length, document.cookie, location.href.includes('0123')]")
        assert kept == [0, "", False]
        other = await page.context.new_page()
        await shown(other, "#/resources", "Sign in")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        assert await page.evaluate("() => sessionStorage.length") == 0


async def test_an_approver_sees_what_is_to_be_approved_and_decides(guarded: Admin) -> None:
    """By its own key, without the token: nothing else is offered, and the decision bears its name."""
    async with browsing(f"http://127.0.0.1:{guarded.port}", refused=(401, 403)) as page:
        await shown(page, "#/now", "Sign in")
        await _enter(page, key=ANNA)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Approvals")
        assert await page.locator("#nav a").all_inner_texts() == ["Intents"]
        await page.locator("tbody a").first.click()
        await page.get_by_role("button", name="Approve", exact=True).click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.locator("pre")).to_have_text('{"to": "x"}')
        await dialog.get_by_label("Note").fill("looks right")
        await dialog.get_by_role("button", name="Approve and send").click()
        await expect(dialog).to_have_count(0)
        await expect(page.locator(".title .badge")).to_have_text("Queued")

    answer = await guarded.call("GET", "/api/v1/intents?state=queued", f"Authorization: Bearer {TOKEN}")
    assert b'"by": "anna"' in answer.body


async def test_an_approver_leaves_as_it_came(guarded: Admin) -> None:
    """The way out is there for whoever came in, and takes the key with it."""
    async with browsing(f"http://127.0.0.1:{guarded.port}", refused=(401, 403)) as page:
        await shown(page, "#/now", "Sign in")
        await _enter(page, key=ANNA)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Approvals")
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
        assert await page.evaluate("() => sessionStorage.length") == 0


async def test_what_was_asked_before_the_way_out_is_answered_to_nobody(guarded: Admin) -> None:
    """Whoever signs in anew is not sent back to an empty form by the next look."""
    held: asyncio.Queue[Route] = asyncio.Queue()
    async with browsing(f"http://127.0.0.1:{guarded.port}", refused=(401,)) as page:
        await shown(page, "#/resources", "Sign in")
        await _enter(page, TOKEN)
        await expect(page.get_by_role("heading", level=1)).to_have_text("Resources")
        await page.route("**/metrics", held.put)
        late = await held.get()
        await page.get_by_role("button", name="Sign out").click()
        await page.get_by_label("Admin token").fill("half of a token")
        await late.continue_()
        async with page.expect_response("**/metrics") as answered:
            await (await held.get()).continue_()
        await (await answered.value).finished()
        await page.evaluate("() => new Promise((done) => setTimeout(done))")

        await expect(page.locator("#vitals")).to_have_text("")
        await expect(page.get_by_label("Admin token")).to_have_value("half of a token")


async def test_a_store_that_is_away_is_said_and_comes_back(tmp_path: Path) -> None:
    """The page says what passes and what does not, and is there again when the store is."""
    own = Server(find_server(), tmp_path, "--save", "")
    own.start()
    async with listening(own.url, tmp_path, store_timeout_s=0.5) as admin:
        async with browsing(f"http://127.0.0.1:{admin.port}", refused=(503,)) as page:
            await shown(page, "#/resources", "Resources")
            own.kill()
            await page.reload()
            await expect(page.get_by_role("heading", name="The store is away")).to_be_visible()
            await expect(page.locator("#vitals")).to_have_text("Store away")
            own.start()
            await expect(page.get_by_text("No resource was written")).to_be_visible()
        own.kill()


async def test_a_page_that_is_asked_for_again_says_why_meanwhile(tmp_path: Path) -> None:
    """A store that is away keeps each try waiting: what is shown is why, and not that something is coming."""
    own = Server(find_server(), tmp_path, "--save", "")
    own.start()
    async with listening(own.url, tmp_path, store_timeout_s=0.5) as admin:
        own.kill()
        async with browsing(f"http://127.0.0.1:{admin.port}", refused=(503,)) as page:
            await page.goto("/#/resources/report%2F7")
            alert = page.get_by_role("heading", name="The store is away")
            await expect(alert).to_be_visible()
            again = asyncio.Event()
            await page.route("**/api/v1/resources/**", lambda _route: again.set())
            await page.get_by_role("button", name="Try again").click()
            await again.wait()

            await expect(alert).to_be_visible()
            await expect(page.get_by_text("Loading")).to_have_count(0)
