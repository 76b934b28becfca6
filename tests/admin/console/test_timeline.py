"""The timeline: the story of A and B as it is drawn, and as it is read without eyes."""

import re

import pytest
from playwright.async_api import Page, expect

from gateway.cli.story.stage import Stage
from tests.admin.console.browser import browsing, shown
from tests.admin.console.staged import call, lease

pytestmark = pytest.mark.slow

LATE, WRITE = "agent-a refused and kept: stale-epoch", "write-report: applied"


async def _entries(page: Page) -> list[str]:
    """What a screen reader hears, from the first to the last."""
    return [label or "" for label in await page.locator(".canvas .entry").evaluate_all(_LABELS)]


_LABELS = "(nodes) => nodes.map((node) => node.getAttribute('aria-label'))"


async def test_the_story_of_a_and_b_is_told_in_its_order(told: Stage) -> None:
    """A ruled and was overtaken, B ruled and wrote, A came too late and was refused."""
    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F7", "report/7")
        await expect(page.locator(".canvas .refusal")).to_be_visible()

        first, second, write, refusal = await _entries(page)

    assert re.match("agent-a rules from .*lease granted for 1 s; lease ran out at .*overtaken at", first)
    assert re.match("agent-b rules from .*granted for 60 s, .* after the lease of agent-a ran out.*rules now", second)
    assert re.match(rf"agent-b, {WRITE}; .*answered 200", write)
    assert re.match(f"{LATE}; .*a newer epoch had come; .* after it was overtaken", refusal)


async def test_the_picture_says_the_same(told: Stage) -> None:
    """A's band ends where B's begins, B's write is under B's band, and A's refusal is right of both."""
    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F7", "report/7")
        a, b = [await band.bounding_box() for band in await page.locator(".entry.reign").all()]
        write = await page.locator(".entry.bar.applied").bounding_box()
        refusal = await page.locator(".entry.refusal").bounding_box()

        lease = await page.locator(".entry.reign .held").first.bounding_box()
        line = await page.locator(".handover").bounding_box()

    assert a and b and write and refusal and lease and line
    assert lease["x"] == pytest.approx(a["x"], abs=2) and line["x"] == pytest.approx(b["x"], abs=2)
    assert a["x"] + a["width"] == pytest.approx(b["x"], abs=2)
    assert b["y"] > a["y"] and write["y"] > b["y"] and write["x"] >= b["x"]
    assert refusal["x"] > write["x"] and abs(refusal["y"] - a["y"]) < 10


async def test_a_takeover_is_told(told: Stage) -> None:
    """Of whom it was taken and how much of the lease was left: beside the name, and in both reigns."""
    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F10", "report/10")
        await expect(page.locator(".handover.taken")).to_be_attached()
        came = re.compile("^took over from agent-a with .+ left$")
        await expect(page.locator(".lane .came")).to_have_text(came)

        first, second = [entry for entry in await _entries(page) if "rules from" in entry]

    assert re.search("lease taken over at .* by agent-b", first)
    assert re.search("taken over from agent-a with .* s left", second)


async def test_entries_are_reached_by_keyboard(told: Stage) -> None:
    """One Tab leads in, arrows lead on, each says what it is; Enter opens what can be opened."""
    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F7", "report/7")
        await page.get_by_role("button", name="Show all").focus()
        await page.keyboard.press("Tab")
        await expect(page.locator(".entry.reign").first).to_be_focused()
        await page.keyboard.press("End")
        await expect(page.locator(".entry.refusal")).to_be_focused()
        await expect(page.locator(".tip")).to_contain_text("stale-epoch")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("PUT /reports/7")


async def test_it_zooms_around_what_has_the_focus(told: Stage) -> None:
    """And shows all again; a look of the page at the gateway takes neither focus nor zoom."""
    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F7", "report/7")
        bar = page.locator(".entry.bar rect")
        before = float(await bar.get_attribute("width") or 0)
        await page.locator('.canvas [tabindex="0"]').focus()
        for key in ("ArrowRight", "ArrowRight", "+", "+"):
            await page.keyboard.press(key)
        zoomed = float(await bar.get_attribute("width") or 0)
        async with page.expect_response("**/api/v1/audit?*"):
            pass
        await expect(page.locator(".entry.bar")).to_be_focused()
        assert float(await bar.get_attribute("width") or 0) == pytest.approx(zoomed) == pytest.approx(before * 1.6**2)
        await page.keyboard.press("0")
        assert float(await bar.get_attribute("width") or 0) == pytest.approx(before)


async def test_what_nobody_knew_is_a_line_until_somebody_said(told: Stage) -> None:
    """From the write's own end to the operator's word, in the lane of the epoch it was sent under."""
    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F10", "report/10")
        await expect(page.locator(".entry.waits.unknown")).to_be_visible()

        told_in_order = [entry for entry in await _entries(page) if "rules from" not in entry]

    assert [entry.partition(";")[0] for entry in told_in_order] == [
        "agent-a, comment: unknown", "agent-a, comment: unknown", "unknown → applied",
    ]  # fmt: skip
    assert "by operator; the comment is there" in told_in_order[-1]


async def test_the_same_is_there_as_a_list(told: Stage) -> None:
    """Each step of the trail, the oldest first."""
    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F7", "report/7")
        await page.get_by_text("The same as a list").click()

        await expect(page.locator(".as-table li b")).to_have_text([
            "lease granted", "lease granted", "in flight", "in flight → applied", "was refused",
            "came too late and was kept",
        ])  # fmt: skip


async def test_older_steps_are_loaded_once(told: Stage) -> None:
    """However often they are asked for: the grant and the two steps of each write, the oldest first."""
    token = lease(told, "report/81")
    for number in range(60):
        assert call(told.gateway, "PUT", "/reports/81", {"number": number}, Fencing_Token=token)[0] == 200

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F81", "report/81")
        steps = page.locator(".as-table .steps li")
        await expect(steps).to_have_count(100)
        await page.get_by_role("button", name="Load older steps").dblclick()
        await expect(steps).to_have_count(121)
        await expect(page.get_by_role("button", name="Load older steps")).to_have_count(0)

        at = await steps.locator("time").evaluate_all("(all) => all.map((one) => one.dateTime)")
        assert at == sorted(at)
        await expect(steps.first).to_contain_text("lease granted")
