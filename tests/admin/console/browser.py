"""Debian's Chromium before a console: what fails in it, or breaks the page's policy, fails the test."""

import contextlib
import re
import shutil
from collections.abc import AsyncIterator

import pytest

pytest.importorskip("playwright.async_api", reason="playwright is not installed")

from playwright.async_api import ConsoleMessage, Page, async_playwright, expect

CHROMIUM = shutil.which("chromium")
if CHROMIUM is None:
    pytest.skip("there is no chromium on PATH (apt-get install chromium)", allow_module_level=True)

DESKTOP, TABLET, PHONE = (1280, 860), (800, 1100), (390, 844)
# A machine that others keep busy draws a page in seconds.
PATIENCE_MS = 30_000
expect.set_options(timeout=PATIENCE_MS)

# What is beside the window, but for what scrolls within itself.
_WIDE = """() => [...document.querySelectorAll("body *")]
  .filter((each) => !each.closest(".scroll, .canvas, .hidden, pre"))
  .filter((each) => each.getBoundingClientRect().right > innerWidth + 1)
  .map((each) => each.outerHTML.slice(0, 200))"""


@contextlib.asynccontextmanager
async def browsing(
    base: str, size: tuple[int, int] = DESKTOP, scheme: str = "light", *, refused: tuple[int, ...] = ()
) -> AsyncIterator[Page]:
    """A page of a browser of its own, with nothing remembered. `refused`: statuses that the test is about."""
    faults: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        # The browser itself tells of every answer that is an error.
        is_told = re.match(r"Failed to load resource: .* status of (\d+)", message.text)
        # On a machine that others keep busy the store may be slow, and is said to be away: the console tries again.
        if message.type in ("error", "warning") and not (is_told and int(is_told[1]) in (503, *refused)):
            faults.append(message.text)

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            context = await browser.new_context(
                base_url=base,
                viewport={"width": size[0], "height": size[1]},
                color_scheme="dark" if scheme == "dark" else "light",
                timezone_id="Europe/Berlin",
            )
            context.set_default_timeout(PATIENCE_MS)
            page = await context.new_page()
            page.on("console", heard)
            page.on("pageerror", lambda error: faults.append(str(error)))
            page.on("dialog", lambda dialog: faults.append(f"a script of somebody else's ran: {dialog.message}"))
            yield page
        finally:
            await browser.close()
    assert not faults, faults


async def shown(page: Page, address: str, heading: str) -> None:
    """Go to a page of the console, and wait until it is there."""
    await page.goto(f"/{address}")
    await expect(page.get_by_role("heading", level=1, name=heading, exact=True)).to_be_visible()


async def fits(page: Page) -> None:
    """Nothing of the page is beside the window."""
    # A picture too many: a script that asks while it is drawn would see neither.
    await page.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    wide = await page.evaluate(_WIDE)
    assert not wide, wide
    assert await page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
