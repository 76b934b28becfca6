"""Lists that are asked for anew before the last answer has come."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Route, expect

from gateway.core.write import ResourceKey
from tests.admin.conftest import Admin, listening
from tests.admin.console.browser import browsing, shown
from tests.intending import ended, intended

pytestmark = pytest.mark.slow


@pytest.fixture
async def listed(store_url: str, tmp_path: Path) -> AsyncIterator[Admin]:
    """With one resource."""
    async with listening(store_url, tmp_path) as admin:
        await ended(admin.store, intended("k-1", ResourceKey("report/7")), "applied")
        yield admin


async def test_an_earlier_search_is_not_drawn_over_a_later_one(listed: Admin) -> None:
    """However late its answer comes."""
    held: asyncio.Queue[Route] = asyncio.Queue()
    async with browsing(f"http://127.0.0.1:{listed.port}") as page:
        await shown(page, "#/resources", "Resources")
        await page.route("**/api/v1/resources?prefix=report*", held.put)
        await page.get_by_label("Begins with").fill("report")
        late = await held.get()
        await page.get_by_label("Begins with").fill("none")
        await expect(page.get_by_text("No resource begins like this.")).to_be_visible()
        async with page.expect_response("**/api/v1/resources?prefix=report*") as answered:
            await late.continue_()
        await (await answered.value).finished()
        # What the answer sets off is done before this is looked at.
        await page.evaluate("() => new Promise((done) => setTimeout(done))")

        await expect(page.get_by_role("link", name="report/7")).to_have_count(0)
        await expect(page.get_by_text("No resource begins like this.")).to_be_visible()


async def test_older_entries_of_another_list_are_not_added(listed: Admin) -> None:
    """Nor is a way to still older ones."""
    held: asyncio.Queue[Route] = asyncio.Queue()
    one = json.dumps({"items": [], "next": "1"})
    async with browsing(f"http://127.0.0.1:{listed.port}") as page:
        await page.route("**/api/v1/resources", lambda route: route.fulfill(body=one, content_type="application/json"))
        await page.route("**/api/v1/resources?cursor=1", held.put)
        await shown(page, "#/resources", "Resources")
        await page.get_by_role("button", name="Older entries").click()
        late = await held.get()
        await page.get_by_label("Begins with").fill("report")
        await expect(page.get_by_role("link", name="report/7")).to_be_visible()
        async with page.expect_response("**/api/v1/resources?cursor=1") as answered:
            await late.fulfill(body=json.dumps({"items": [], "next": "2"}), content_type="application/json")
        await (await answered.value).finished()
        await page.evaluate("() => new Promise((done) => setTimeout(done))")

        await expect(page.get_by_role("button", name="Older entries")).to_have_count(0)
