"""The audit page's button: whether the trail is as it was sealed, in words."""

from typing import Any

import pytest
from playwright.async_api import expect

from gateway.core.write import ResourceKey
from gateway.store import audit_chain
from gateway.store.keys import resource_keys
from tests.admin.conftest import Admin
from tests.admin.console.browser import browsing, shown
from tests.intending import ended, intended

pytestmark = pytest.mark.slow
RESOURCE = ResourceKey("report/7")
# A trail that never ends, and a page that is left at its second part.
LEFT = """async () => {
  const { verifying } = await import("/console/verifying.js");
  const { button, result } = verifying();
  document.body.append(button, result);
  const ended = new Promise((done) => {
    new MutationObserver(() => button.disabled || done()).observe(button, { attributes: true });
  });
  let calls = 0;
  window.fetch = async () => {
    calls += 1;
    if (calls === 2) result.remove();
    return Response.json({ events: 1, findings: [], next: calls < 9 ? "1" : null });
  };
  button.click();
  await ended;
  return calls;
}"""


async def test_the_trail_is_verified(admin: Admin, raw: Any) -> None:
    """All of it is gone through; an event that somebody removed is named with its place."""
    for key in ("k-1", "k-2"):
        await ended(admin.store, intended(key, RESOURCE), "unknown")
    await audit_chain.checkpoint(admin.store)

    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await shown(page, "#/audit", "Audit")
        await page.get_by_role("button", name="Verify the trail").click()
        answer = page.locator(".notice")
        await expect(answer).to_contain_text("4 events: none is missing, none was changed since it was sealed.")

        stream = next(key for key in raw.scan_iter(f"{resource_keys(RESOURCE)[6]}*") if raw.type(key) == b"stream")
        second = raw.xrange(stream)[1][0]
        raw.xdel(stream, second)
        await page.get_by_role("button", name="Verify the trail").click()
        await expect(answer).to_contain_text("The trail is not as it was sealed")
        await expect(answer.get_by_role("row")).to_have_count(2)
        await expect(answer).to_contain_text("not there any more")


async def test_nobody_goes_through_the_trail_for_a_page_that_was_left(admin: Admin) -> None:
    """A long one takes the store's time."""
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await page.goto("/#/policies")
        assert await page.evaluate(LEFT) == 2
