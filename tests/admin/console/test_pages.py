"""Every page of the console in a real browser, with what agents may have called things."""

import json
import re
from pathlib import Path

import pytest
from playwright.async_api import Page, expect

from gateway.cli.story.stage import Stage
from gateway.core.write import ResourceKey
from gateway.store.intents import pause
from tests.admin.conftest import Admin, listening
from tests.admin.console.browser import DESKTOP, PHONE, TABLET, browsing, fits, shown
from tests.admin.console.staged import asked_for, broken_off, call, lease
from tests.intending import ended, intended
from tests.stack import POLICY
from tests.until import until

pytestmark = pytest.mark.slow

PAGES = {
    "#/now": "Now",
    "#/resources": "Resources",
    "#/resources/report%2F7": "report/7",
    "#/intents": "Intents",
    "#/intents?state=applied": "Intents",
    "#/quarantine": "Quarantine",
    "#/pauses": "Pauses",
    "#/policies": "Policies",
    "#/audit": "Audit",
    "#/notifications": "Notifications",
}
# As they are in a path, and as the console shows them.
HOSTILE = {
    "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E": "<img src=x onerror=alert(1)>",
    "%D9%85%D8%B1%D8%AD%D8%A8%D8%A7": "مرحبا",
    "x" * 200: "x" * 200,
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [DESKTOP, TABLET, PHONE], ids=["desktop", "tablet", "phone"])
async def test_every_page_loads_and_fits(size: tuple[int, int], scheme: str, told: Stage) -> None:
    """Without an error, without a breach of its policy, without anything beside the window."""
    async with browsing(f"http://{told.admin}", size, scheme) as page:
        for address, heading in PAGES.items():
            await shown(page, address, heading)
            await expect(page.locator(".loading")).to_have_count(0)
            await fits(page)

        background = await page.evaluate("() => getComputedStyle(document.body).backgroundColor")
        lightness = sum(map(int, re.findall(r"\d+", background)[:3])) / 3
        assert (lightness > 128) == (scheme == "light")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
async def test_what_agents_chose_is_shown_as_text(size: tuple[int, int], told: Stage) -> None:
    """Markup is a text, what is long is broken, and what is written from the right turns nothing around it."""
    _let_any_name_in(told)
    # The worker reads them a moment later.
    asked = {"target": f"PUT /reports/{next(iter(HOSTILE))}", "holder": "me", "ttl_s": 600, "takeover": True}
    await until(lambda: call(told.gateway, "POST", "/-/fence/leases", asked)[0] == 201)
    for spelled in HOSTILE:
        target = f"/reports/{spelled}"
        token = _leased(told, target)
        status, answer = call(told.gateway, "PUT", target, {"text": "<script>alert(1)</script>"}, Fencing_Token=token)
        assert status == 200, answer

    async with browsing(f"http://{told.admin}", size) as page:
        for address, heading in (("#/resources", "Resources"), ("#/audit", "Audit")):
            await shown(page, address, heading)
            for name in HOSTILE.values():
                await expect(page.get_by_text(f"report/{name}", exact=True).first).to_be_visible()
            assert await page.locator("main img, main script").count() == 0
            await fits(page)
        for name in HOSTILE.values():
            await shown(page, "#/resources", "Resources")
            await page.get_by_role("link", name=f"report/{name}", exact=True).click()
            await expect(page.get_by_role("heading", level=1)).to_have_text(f"report/{name}")
            await expect(page.locator(".entry.bar")).to_have_count(1 if size == DESKTOP else 2)
            await fits(page)


def _let_any_name_in(told: Stage) -> None:
    file = told.directory / "policies" / "reports.yaml"
    resource = "    resource: report/{path.report_id}\n"
    text = file.read_text()
    assert resource in text
    file.write_text(text.replace(resource, f"{resource}    values: any\n") if "values:" not in text else text)
    assert call(told.admin, "POST", "/api/v1/policies/reload", {})[0] == 200


async def test_hostile_keys_bodies_and_reasons_are_texts(told: Stage) -> None:
    """In an intent, in the request that waits, in a pause."""
    key, account = "<b>k</b>&amp;", "<i>acme"
    unknown = broken_off(told, "77", key)
    waiting, _ = asked_for(told, account, "<svg/onload=alert(2)>")
    reason = "<img src=x onerror=alert(3)>"
    begun = call(told.admin, "POST", "/api/v1/pauses", {"resource": "report/77", "reason": reason})[1]

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, f"#/intents/{unknown}", key)
        await shown(page, f"#/intents/{waiting}", "<svg/onload=alert(2)>")
        await expect(page.locator("pre.body")).to_contain_text('"account": "<i>acme"')
        await expect(page.get_by_role("link", name=f"account/{account}")).to_be_visible()
        await shown(page, "#/pauses", "Pauses")
        await expect(page.get_by_text(reason)).to_be_visible()
        assert await page.locator("main :is(img, script, i, main b b)").count() == 0
    call(told.admin, "DELETE", f"/api/v1/pauses/{begun['id']}", None)


async def test_what_cannot_be_seen_is_spelled_out(admin: Admin) -> None:
    """A control character, or one that turns the line around: no name looks like another one."""
    resource = ResourceKey("report/\u202egnp.exe\x07")
    await ended(admin.store, intended("k\u200b1", resource, holder="a\u2066b"), "unknown")

    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await shown(page, "#/intents?state=unknown", "Intents")
        await expect(page.locator("tbody tr")).to_contain_text("k\\u200b1")
        await expect(page.locator("tbody tr")).to_contain_text("a\\u2066b")
        await page.get_by_role("link", name="report/\\u202egnp.exe\\u0007", exact=True).click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("report/\\u202egnp.exe\\u0007")
        labels = await page.locator(".canvas .entry").evaluate_all("(all) => all.map((one) => one.ariaLabel).join()")
        assert "a\\u2066b" in labels and "\u2066" not in labels
        assert await page.title() == "report/\\u202egnp.exe\\u0007 · fencegate"


async def test_an_incidents_pause_leads_to_its_intent(admin: Admin) -> None:
    """What took effect twice has stopped its resource: whoever ends the pause looks at it first."""
    intent = (await ended(admin.store, intended("k-1", ResourceKey("report/81")), "unknown")).intent
    await pause(
        admin.store,
        ResourceKey("report/81"),
        id=intent,
        reason=f"intent {intent} took effect more than once",
        by="query",
    )

    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await shown(page, "#/pauses", "Pauses")
        await page.get_by_role("link", name=f"intent {intent}").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("k-1")


@pytest.mark.parametrize("address", ["#/constructor", "#/toString/x", "#/"])
async def test_an_address_of_nothing_is_the_first_page(address: str, admin: Admin) -> None:
    """Whatever every object of a browser has by that name."""
    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await shown(page, address, "Now")
        await shown(page, "#/intents?state=constructor", "Intents")
        await expect(page.get_by_text("Unknown: nobody knows whether the API acted.")).to_be_visible()


async def test_writes_are_paused_where_nothing_can_be_suggested(admin: Admin) -> None:
    """Whoever has to stop something names it all the same."""
    async with browsing(f"http://127.0.0.1:{admin.port}", refused=(500,)) as page:
        await page.route("**/api/v1/policies", lambda route: route.fulfill(status=500))
        await shown(page, "#/pauses", "Pauses")
        await page.get_by_role("button", name="Pause writes").click()
        await page.get_by_label("Name").fill("reports")
        await page.get_by_label("Reason").fill("sent twice")
        await page.get_by_role("button", name="Pause", exact=True).click()
        await expect(page.locator("tbody tr")).to_contain_text("sent twice")


async def test_how_ids_are_spelled_stands_with_their_rule(store_url: str, tmp_path: Path) -> None:
    """A form by its name, a list with all that is in it; what everybody takes is not said."""
    policy = f"""{POLICY.format(port=9)}    values: {{path.id: [red, blue]}}
  - {{name: note, match: "PUT /notes/{{number}}", resource: "note/{{path.number}}", values: integer}}
  - {{name: any, match: "PUT /any/{{name}}", resource: "any/{{path.name}}"}}
""".replace("{path: /reports}", "{path: /}")
    async with (
        listening(store_url, tmp_path, policy=policy) as admin,
        browsing(f"http://127.0.0.1:{admin.port}", PHONE) as page,
    ):
        await shown(page, "#/policies", "Policies")
        await expect(page.locator(".spelled")).to_have_text(["path.id: blue | red", "path.number: integer"])
        await fits(page)


async def test_who_uses_a_budget_hides_nothing_of_it(told: Stage) -> None:
    """However long its name is: what is used stands beside it."""
    asked_for(told, "a" * 200, "long-name")

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/policies", "Policies")
        await expect(page.get_by_text(f"account/{'a' * 200}", exact=True)).to_be_visible()
        over = await page.locator(".scroll").evaluate_all(
            "(all) => all.map((one) => one.scrollWidth - one.clientWidth)"
        )
        assert set(over) == {0}


async def test_a_refusal_leads_to_its_trace(told: Stage) -> None:
    """What the agent's request was a part of, to be looked up where traces are."""
    late, trace = lease(told, "report/80"), "0af7651916cd43dd8448eb211c80319c"
    lease(told, "report/80", "agent-b")
    told_of = {"Fencing_Token": late, "traceparent": f"00-{trace}-b7ad6b7169203331-01"}
    assert call(told.gateway, "PUT", "/reports/80", {"text": "old"}, **told_of)[0] == 412

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F80", "report/80")
        await page.get_by_text("The same as a list").click()
        refused = page.locator(".steps li").filter(has_text="was refused")
        await expect(refused).to_contain_text(f"trace {trace}")


async def test_the_list_follows_what_is_typed(told: Stage) -> None:
    """By the beginning of a name; the address keeps it."""
    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources", "Resources")
        await page.get_by_label("Begins with").fill("report/7")

        await expect(page.locator("tbody tr").filter(has_text="report/10")).to_have_count(0)
        await expect(page.get_by_role("link", name="report/7", exact=True)).to_be_visible()
        await page.get_by_label("Begins with").fill("no-such")
        await expect(page.get_by_text("No resource begins like this.")).to_be_visible()
        assert page.url.endswith("#/resources?prefix=no-such")


async def test_now_shows_what_waits_and_what_passes(told: Stage) -> None:
    """Counts lead to their lists; rates come with the second look."""
    broken_off(told, "78", "k-78")

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/now", "Now")
        await expect(page.get_by_role("link", name=re.compile("writes? of unknown outcome"))).to_be_visible()
        await expect(page.get_by_role("row", name=re.compile("^stale-epoch"))).to_be_visible()
        await expect(page.locator(".sparkline polyline").first).to_be_attached()
        await page.get_by_role("link", name=re.compile("writes? of unknown outcome")).click()
        await expect(page.get_by_role("link", name="k-78")).to_be_visible()


async def test_the_keyboard_is_enough(told: Stage) -> None:
    """From the first Tab to an intent's dialog and back, with a ring around what has the focus."""
    waiting, _ = asked_for(told, "by-keyboard", "key-1")

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/intents?state=awaiting_approval", "Intents")
        await expect(page.get_by_role("link", name="key-1")).to_be_visible()
        await page.keyboard.press("Tab")
        await expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
        await _tab_to(page, "key-1")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", level=1)).to_have_text("key-1")
        await _tab_to(page, "Deny")
        ring = await page.evaluate("() => getComputedStyle(document.activeElement).outlineStyle")
        assert ring == "solid"
        await page.keyboard.press("Enter")
        await expect(page.get_by_label("Note to the agent")).to_be_focused()
        await page.keyboard.press("Escape")
        await expect(page.get_by_role("dialog")).to_have_count(0)
        await expect(page.get_by_role("button", name="Deny")).to_be_focused()
    assert call(told.admin, "GET", f"/api/v1/intents/{waiting}", None)[1]["state"] == "awaiting_approval"


async def _tab_to(page: Page, text: str) -> None:
    for _ in range(60):
        await page.keyboard.press("Tab")
        if await page.evaluate("() => document.activeElement.textContent") == text:
            return
    raise AssertionError(f"no Tab leads to {text!r}")


def _leased(stage: Stage, target: str) -> str:
    """A lease of what a target is about, whatever it is called."""
    asked = {"target": f"PUT {target}", "holder": "<b>evil</b>", "ttl_s": 600, "takeover": True}
    status, granted = call(stage.gateway, "POST", "/-/fence/leases", asked)
    assert status == 201, json.dumps(granted)
    return str(granted["token"])


def test_a_lease_is_taken_over(told: Stage) -> None:
    """What the other tests here rely on: the demo lets anybody take over."""
    assert lease(told, "report/79") != lease(told, "report/79", "agent-b")
