"""What is wrong with the whole of it, on the first page: in words, and what to do."""

import pytest
from playwright.async_api import Route, expect

from gateway.core.check import Check
from tests.admin.conftest import Admin
from tests.admin.console.browser import browsing, shown

pytestmark = pytest.mark.slow


async def test_a_store_that_is_not_safe_is_told(admin: Admin) -> None:
    """Each setting with what was seen and what to write, for as long as it is wrong."""
    admin.unfit = (Check("eviction", False, "maxmemory-policy is allkeys-lru", "set it to noeviction"),)

    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await shown(page, "#/now", "Now")
        notice = page.locator(".notice")
        await expect(notice).to_contain_text("The store is not kept safe")
        await expect(notice).to_contain_text("eviction: maxmemory-policy is allkeys-lru; set it to noeviction")
        admin.unfit = ()
        await expect(notice).to_have_count(0)


# A loss at two servers, one of epochs that no number holds; what is sent once it is accepted.
ACCEPT = """async () => {
  const { lossNotice } = await import("/console/store.js");
  const loss = (floor) => ({ loss: { floor, since: "2026-03-01T08:00:00Z", why: "x", accepted_at: null } });
  const servers = [loss("1796085514327"), loss("18446744073709551615"), { loss: null }];
  document.getElementById("main").append(lossNotice({ regressed: true, servers }, () => {}));
  return new Promise((sent) => {
    window.fetch = async (path, { body }) => {
      sent(JSON.parse(body).floor);
      return Response.json({});
    };
    document.querySelector("[data-keep=accept]").click();
    document.querySelector("dialog input").value = "looked";
    document.querySelector("dialog form").requestSubmit();
  });
}"""


async def test_a_loss_is_accepted_as_it_was_looked_at(admin: Admin) -> None:
    """To the last digit: another floor would be another loss."""
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await shown(page, "#/pauses", "Pauses")
        assert await page.evaluate(ACCEPT) == "18446744073709551615"


async def test_what_was_turned_away_is_told(admin: Admin) -> None:
    """How many in the last two minutes, and what there was no more of. The metrics' growth is said here."""
    looks = 0

    async def metrics(route: Route) -> None:
        nonlocal looks
        looks += 1
        grown = 0 if looks == 1 else 7
        lines = ("fencegate_store_up 1", f'fencegate_shed_total{{what="lease"}} {grown}', "fencegate_waiting 3", "")
        await route.fulfill(body="\n".join(lines), content_type="text/plain")

    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.route("**/metrics", metrics)
        await shown(page, "#/now", "Now")
        notice = page.locator(".notice")
        await expect(notice).to_contain_text("7 requests were turned away in the last two minutes: no place to")
        await expect(page.locator(".curve", has_text="In flight")).to_contain_text("3 wait")
