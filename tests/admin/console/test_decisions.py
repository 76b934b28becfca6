"""A person's word in the console, end to end: at the gateway, at the agents, at the API behind."""

from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Page, expect

from gateway.cli.story.stage import Stage, post_json
from tests.admin.conftest import Admin
from tests.admin.console.browser import PHONE, browsing, shown
from tests.admin.console.staged import (
    approve,
    asked_for,
    broken_off,
    call,
    lease,
    pay,
    payments_of,
    state_of,
)
from tests.admin.test_store import lose
from tests.until import until

pytestmark = pytest.mark.slow


async def _decide(page: Page, action: str, verb: str, **fields: str) -> None:
    """Press a page's button, fill its dialog in, and confirm."""
    await page.get_by_role("button", name=action, exact=True).click()
    dialog = page.get_by_role("dialog")
    for label, text in fields.items():
        await dialog.get_by_label(label, exact=True).fill(text)
    await dialog.get_by_role("button", name=verb, exact=True).click()
    await expect(dialog).to_have_count(0)


async def test_a_payment_is_approved_as_it_was_shown(told: Stage) -> None:
    """The request stands in the dialog with its digest; it is sent once, and the page follows it to its end."""
    intent, _ = asked_for(told, "approved", "invoice-a")

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, f"#/intents/{intent}", "invoice-a")
        await page.get_by_role("button", name="Approve", exact=True).click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.locator("pre")).to_contain_text('"amount": 125000')
        digest = await dialog.locator(".digest").inner_text()
        await dialog.get_by_label("Note").fill("as ordered")
        await dialog.get_by_role("button", name="Approve and send").click()
        await expect(page.locator(".title .badge")).to_have_text("Applied")
        await expect(page.locator(".steps")).to_contain_text("as ordered")

    assert len(digest) > 40
    assert [payment["status"] for payment in payments_of(told, "invoice-a")] == ["paid"]


async def test_a_payment_is_denied_and_the_agent_reads_why(told: Stage) -> None:
    """It is never sent."""
    intent, token = asked_for(told, "denied", "invoice-b")

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, f"#/intents/{intent}", "invoice-b")
        await _decide(page, "Deny", "Deny", **{"Note to the agent": "not our supplier"})
        await expect(page.locator(".title .badge")).to_have_text("Denied")

    status, answer = pay(told, "denied", "invoice-b", Fencing_Token=token)
    assert status == 403 and "not our supplier" in str(answer["detail"])
    assert payments_of(told, "invoice-b") == []


async def test_a_payment_is_taken_back_as_was_shown(told: Stage) -> None:
    """What is sent stands in the dialog before, and whether the resource was written since."""
    intent, _ = asked_for(told, "returned", "invoice-c")
    approve(told, intent)
    await until(lambda: state_of(told, intent) == "applied")

    async with browsing(f"http://{told.admin}", PHONE, "dark") as page:
        await shown(page, f"#/intents/{intent}", "invoice-c")
        await page.get_by_role("button", name="Compensate", exact=True).click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text("/refunds")
        await expect(dialog.locator("pre")).to_contain_text("undo-invoice-c")
        await expect(dialog).to_contain_text("The resource was not written since.")
        await dialog.get_by_label("Note").fill("paid by hand before")
        await dialog.get_by_role("button", name="Send the compensation").click()
        await expect(page.locator(".title .badge")).to_have_text("Compensated")

    assert [payment["status"] for payment in payments_of(told, "invoice-c")] == ["refunded"]


async def test_an_unknown_write_is_resolved(told: Stage) -> None:
    """Only with a choice and a note; its repeat is then answered from the record."""
    intent = broken_off(told, "30", "k-30")

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, f"#/intents/{intent}", "k-30")
        await page.get_by_role("button", name="Resolve", exact=True).click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("button", name="Resolve").click()
        await expect(dialog).to_be_visible()
        assert state_of(told, intent) == "unknown"
        await dialog.get_by_text("It was applied").click()
        await dialog.get_by_label("Note").fill("the comment is there")
        await dialog.get_by_role("button", name="Resolve").click()
        await expect(page.locator(".title .badge")).to_have_text("Applied")

    path, token = "/reports/30/comments?hang_up=1", lease(told, "report/30", "agent-b")
    again = call(told.gateway, "POST", path, {"text": "x"}, Fencing_Token=token, Idempotency_Key="k-30")
    assert again == (200, {"intent": intent, "state": "applied", "resolved_by": "operator"})


async def test_a_dialog_names_its_intent_and_ends_with_its_page(told: Stage) -> None:
    """Over another page a word would be given on something that is not shown."""
    intent = broken_off(told, "31", "k-31")

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, f"#/intents/{intent}", "k-31")
        await page.get_by_role("button", name="Resolve", exact=True).click()
        dialog = page.get_by_role("dialog")
        await expect(dialog).to_contain_text(intent)
        await page.evaluate("location.hash = '#/resources'")
        await expect(dialog).to_have_count(0)

    assert state_of(told, intent) == "unknown"


async def test_what_the_gateway_refuses_is_said_in_the_dialog(told: Stage) -> None:
    """Somebody else was faster: the dialog stays with the reason, and nothing is lost of the note."""
    intent, _ = asked_for(told, "twice", "invoice-d")

    async with browsing(f"http://{told.admin}", refused=(409,)) as page:
        await shown(page, f"#/intents/{intent}", "invoice-d")
        await page.get_by_role("button", name="Deny", exact=True).click()
        approve(told, intent)
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Note to the agent").fill("no")
        await dialog.get_by_role("button", name="Deny").click()
        await expect(dialog.get_by_role("alert")).to_be_visible()
        await expect(dialog.get_by_label("Note to the agent")).to_have_value("no")

    await until(lambda: state_of(told, intent) == "applied")


async def test_a_resolution_is_of_the_attempt_that_is_shown(told: Stage) -> None:
    """Somebody else has freed its key meanwhile, and what was sent under it again is unknown too."""
    intent = broken_off(told, "32", "k-32")

    async with browsing(f"http://{told.admin}", refused=(409,)) as page:
        await shown(page, f"#/intents/{intent}", "k-32")
        await page.get_by_role("button", name="Resolve", exact=True).click()
        faster = {"outcome": "not_applied", "note": "no comment is there"}
        post_json(told.admin, f"/api/v1/intents/{intent}/resolve", faster)
        assert broken_off(told, "32", "k-32") == intent
        dialog = page.get_by_role("dialog")
        await dialog.get_by_text("It was not applied").click()
        await dialog.get_by_label("Note").fill("no comment is there")
        await dialog.get_by_role("button", name="Resolve").click()
        await expect(dialog.get_by_role("alert")).to_contain_text("attempt 2")

    assert state_of(told, intent) == "unknown"


async def test_writes_are_paused_and_go_on(told: Stage) -> None:
    """A pause of a rule stops its writes within a second, and its end lets them through."""
    token = lease(told, "report/31")

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/pauses", "Pauses")
        await page.get_by_role("button", name="Pause writes").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("What").select_option("rule")
        await dialog.get_by_label("Name").fill("write-report")
        await dialog.get_by_label("Reason").fill("sent twice")
        await dialog.get_by_role("button", name="Pause", exact=True).click()
        row = page.get_by_role("row", name="write-report")
        await expect(row).to_contain_text("sent twice")
        await until(lambda: call(told.gateway, "PUT", "/reports/31", {}, Fencing_Token=token)[0] == 503)
        await row.get_by_role("button", name="End", exact=True).click()
        await page.get_by_role("dialog").get_by_role("button", name="End the pause").click()
        await expect(page.get_by_text("Nothing is paused.")).to_be_visible()

    await until(lambda: call(told.gateway, "PUT", "/reports/31", {}, Fencing_Token=token)[0] == 200)


async def test_a_name_that_is_not_there_is_not_paused(told: Stage) -> None:
    """A slip would stop nothing, and look as if it had."""
    async with browsing(f"http://{told.admin}", refused=(400,)) as page:
        await shown(page, "#/pauses", "Pauses")
        await page.get_by_role("button", name="Pause writes").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("no-such")
        await dialog.get_by_label("Reason").fill("x")
        await dialog.get_by_role("button", name="Pause", exact=True).click()
        await expect(dialog.get_by_role("alert")).to_contain_text("no upstream is called")


async def test_the_epoch_is_raised(told: Stage) -> None:
    """Whoever wrote until then is refused."""
    token = lease(told, "report/32")

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/resources/report%2F32", "report/32")
        await _decide(page, "Raise the epoch", "Raise it")

    assert call(told.gateway, "PUT", "/reports/32", {}, Fencing_Token=token)[0] == 412


async def test_a_late_result_is_looked_at_stored_and_dropped(told: Stage, tmp_path: Path) -> None:
    """Its body is stored byte for byte."""
    old = lease(told, "report/33")
    lease(told, "report/33", "agent-b")
    assert call(told.gateway, "PUT", "/reports/33", {"text": "late"}, Fencing_Token=old)[0] == 412

    async with browsing(f"http://{told.admin}") as page:
        await shown(page, "#/quarantine?resource=report%2F33", "Quarantine")
        await page.get_by_role("link", name="PUT /reports/33").click()
        async with page.expect_download() as starting:
            await page.get_by_role("button", name="Download the body").click()
        await (await starting.value).save_as(tmp_path / "body")
        await _decide(page, "Drop", "Drop", Note="looked at")
        await expect(page.get_by_role("heading", level=1)).to_have_text("Quarantine")
        await expect(page.get_by_role("link", name="PUT /reports/33")).to_have_count(0)

    assert (tmp_path / "body").read_bytes() == b'{"text": "late"}'


async def test_a_reload_tells_what_is_wrong(told: Stage) -> None:
    """By file, line and column; the set in force stays, and mended files are taken."""
    file = told.directory / "policies" / "reports.yaml"
    good = file.read_text()

    async with browsing(f"http://{told.admin}", refused=(422,)) as page:
        await shown(page, "#/policies", "Policies")
        file.write_text(good + "  - nonsense: true\n")
        await _decide(page, "Reload the files", "Reload")
        await expect(page.get_by_role("alert").filter(has_text="reports.yaml:")).to_be_visible()
        await expect(page.get_by_role("cell", name="write-report")).to_be_visible()
        file.write_text(good)
        await _decide(page, "Reload the files", "Reload")
        await expect(page.get_by_text("The files are in force.")).to_be_visible()


async def test_a_request_is_explained(told: Stage) -> None:
    """Which rule takes it, and why another does not; a slip is said in its place."""
    async with browsing(f"http://{told.admin}", refused=(400,)) as page:
        await shown(page, "#/policies", "Policies")
        await page.get_by_label("Path").fill("/reports/7")
        await page.get_by_role("button", name="Explain").click()
        await expect(page.locator(".answer")).to_contain_text("report/7")
        await expect(page.locator(".considered .taken")).to_contain_text("write-report")
        await page.get_by_label("Path").fill("/reports/%2e%2e/7")
        await page.get_by_role("button", name="Explain").click()
        await expect(page.get_by_role("alert").filter(has_text="Nothing was forwarded")).to_be_visible()


async def test_a_loss_of_the_store_is_accepted(admin: Admin, raw: Any) -> None:
    """The first page says since when and why, and what has to be made sure before writes go on."""
    lose(raw, admin.store.expected_ms() + 1)

    async with browsing(f"http://127.0.0.1:{admin.port}") as page:
        await shown(page, "#/now", "Now")
        await expect(page.locator(".notice")).to_contain_text("it was emptied")
        await _decide(page, "Go on after the loss", "Go on", Note="looked at the mailbox")
        await expect(page.locator(".notice")).to_have_count(0)

    answer = await admin.call("GET", "/api/v1/store")
    assert b'"regressed": false' in answer.body


async def test_a_loss_that_was_found_since_is_not_accepted_unseen(admin: Admin, raw: Any) -> None:
    """The dialog stays and says so."""
    now_ms = admin.store.expected_ms()
    lose(raw, now_ms)

    async with browsing(f"http://127.0.0.1:{admin.port}", refused=(409,)) as page:
        await shown(page, "#/now", "Now")
        await page.get_by_role("button", name="Go on after the loss", exact=True).click()
        lose(raw, now_ms + 60_000)
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Note", exact=True).fill("looked at the mailbox")
        await dialog.get_by_role("button", name="Go on", exact=True).click()
        await expect(dialog).to_contain_text("a loss was found since")

    answer = await admin.call("GET", "/api/v1/store")
    assert b'"regressed": true' in answer.body
