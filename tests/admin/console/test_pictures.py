"""The picture of README: agent A was overtaken, B wrote, A came too late. Drawn of the demo's own story.

It is taken anew with `FENCEGATE_PICTURES=deploy/console python -m pytest tests/admin/console/test_pictures.py`.
"""

import struct
from pathlib import Path

import pytest
from playwright.async_api import FloatRect, Page, expect

from gateway.cli.story.stage import Stage
from gateway.settings import environment
from tests.admin.console.browser import browsing, shown

pytestmark = pytest.mark.slow

# README is read over slow lines too.
LARGEST = 120_000
AIR = 14


async def test_the_timeline_of_readme(told: Stage, tmp_path: Path) -> None:
    """The resource's heading and its timeline, nothing cut off; about as wide as a page of text."""
    picture = Path(environment().get("FENCEGATE_PICTURES", tmp_path)) / "timeline.png"
    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F7", "report/7")
        await expect(page.locator(".canvas .why")).to_have_text("stale-epoch")
        # A tip would hide what is beneath.
        await expect(page.locator(".tip")).to_be_hidden()

        taken = await page.screenshot(path=picture, clip=await _around(page, ".title", ".timeline"))

    width, height = struct.unpack(">II", taken[16:24])
    assert 900 < width < 1100 and 250 < height < 600
    assert len(taken) < LARGEST


async def _around(page: Page, first: str, last: str) -> FloatRect:
    above, below = await page.locator(first).bounding_box(), await page.locator(last).bounding_box()
    assert above and below
    # What leads back to the list stands close above.
    top, bottom = above["y"] - 2, below["y"] + below["height"] + AIR
    return {"x": below["x"] - AIR, "y": top, "width": below["width"] + 2 * AIR, "height": bottom - top}
