"""Three stories understood and ended by somebody who has the console and nothing else, before gateways as operators
start them: an overtaken agent, a payment of which nobody knows, and a store that goes away and comes back.
"""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from playwright.async_api import Locator, Page, expect

import gateway
from gateway.cli.story.scenes import Scenes, Teller
from gateway.cli.story.stage import Stage, set_stage
from gateway.store.embedded import find_server
from tests.admin.console.browser import browsing
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policy
from tests.until import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(400)]

PAYMENTS = Path(gateway.__file__).parents[1] / "policies" / "payments.yaml"
PAYMENT = {"account": "acme", "to": "supplier-3", "amount": 125000, "reference": "invoice-17"}
# A store whose disk is busy may not answer in time: the dialog says so then, and to press again.
_PRESS = """() => {
  const button = document.querySelector("dialog[open] [type=submit]");
  if (button && !button.disabled) button.click();
  return button === null;
}"""
# How soon it is said that the store went, or came: the console asks every two seconds, a gateway's call takes two more.
SOON_MS = 60_000


@contextlib.asynccontextmanager
async def _console(address: str, *refused: int) -> AsyncIterator[Page]:
    """As an operator comes: by the address, without a path."""
    async with browsing(f"http://{address}", refused=refused) as page:
        await page.goto("/")
        await expect(page.get_by_role("heading", level=1, name="Now")).to_be_visible()
        yield page


async def _said(page: Page, place: Locator, *words: str) -> None:
    for said in words:
        await expect(place).to_contain_text(said)


@pytest.fixture(scope="module")
def overtaken() -> Iterator[Stage]:
    """A demo of its own: what is dropped here, nobody else looks for."""
    with set_stage() as stage:
        Scenes(stage, Teller()).paused_agent()
        yield stage


async def test_an_overtaken_agent_is_found_and_its_late_result_dropped(overtaken: Stage) -> None:
    """From the first page to the resource: A's reign, B's, B's write, A's refusal; then to what A had in hand."""
    async with _console(overtaken.admin) as page:
        await expect(page.get_by_role("link", name="late result in quarantine")).to_be_visible()
        await expect(page.get_by_role("row", name=re.compile("^stale-epoch"))).to_be_visible()
        await page.get_by_role("link", name="Resources").click()
        await page.get_by_role("link", name="report/7", exact=True).click()
        await expect(page.locator(".canvas .refusal")).to_be_visible()

        labels = await page.locator(".canvas .entry").evaluate_all("(all) => all.map((one) => one.ariaLabel)")
        a, b, write, refusal = labels
        assert re.match("agent-a rules from .*lease granted for 1 s; lease ran out at .*overtaken at .*after", a)
        assert re.match("agent-b rules from .*granted for 60 s, .* s after the lease of agent-a ran out;.*rules now", b)
        assert re.match("agent-b, write-report: applied;.*answered 200", write)
        assert re.match("agent-a refused and kept: stale-epoch;.*a newer epoch had come;.*after it was over", refusal)
        await _said(page, page.locator(".canvas"), "after the lease of agent-a ran out", "stale-epoch")

        await page.get_by_text("The same as a list").click()
        await expect(page.locator(".as-table li b")).to_have_text([
            "lease granted", "lease granted", "in flight", "in flight → applied", "was refused",
            "came too late and was kept",
        ])  # fmt: skip

        await page.locator(".canvas .refusal").click()
        await expect(page.get_by_role("heading", level=1)).to_have_text("PUT /reports/7")
        await _said(page, page.locator("main"), "the old result of A")
        await page.get_by_role("button", name="Drop").click()
        await page.get_by_role("dialog").get_by_label("Note").fill("B has written it anew")
        await page.get_by_role("dialog").get_by_role("button", name="Drop").click()
        await page.get_by_role("link", name="Now").click()
        await expect(page.get_by_text("Nothing waits for you.")).to_be_visible()


async def _acts_and_is_gone(seen: Seen, writer: asyncio.StreamWriter) -> None:
    """The payment is made, and nobody hears of it; asked for it, the API is too busy."""
    if seen.line.startswith("POST /payments"):
        writer.close()
    else:
        writer.write(b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")


async def _pay(gateway: Gateway, token: object) -> RawAnswer:
    fields = (f"Fencing-Token: {token}", "Content-Type: application/json")
    return await ask(gateway.port, "POST", "/payments", *fields, body=json.dumps(PAYMENT).encode())


@contextlib.asynccontextmanager
async def _paying(directory: Path) -> AsyncIterator[tuple[Gateway, RecordingUpstream]]:
    async with RecordingUpstream(_acts_and_is_gone) as bank:
        policies = directory / "policies"
        policies.mkdir()
        text = PAYMENTS.read_text().replace("127.0.0.1:9000", f"127.0.0.1:{bank.port}")
        (policies / "payments.yaml").write_text(text.replace("total: 20s, late: 40s", "total: 2s, late: 2s"))
        async with Gateway(policies, directory / "one") as gateway:
            yield gateway, bank


async def test_a_payment_of_which_nobody_knows_is_resolved(tmp_path: Path) -> None:
    """Approved, sent, never answered: the console says what was sent and when, and what either word will do."""
    async with _paying(tmp_path) as (gateway, bank):
        token = (await gateway.lease("account/acme", "agent-a"))["token"]
        assert (await _pay(gateway, token)).status == 202
        async with _console(f"127.0.0.1:{gateway.admin}") as page:
            await page.get_by_role("link", name="write to approve").click()
            await page.get_by_role("link", name="invoice-17").click()
            await _decide(page, "Approve", "Approve and send", "as ordered")
            await page.get_by_role("link", name="Now").click()
            await page.get_by_role("link", name="write of unknown outcome").click()
            await page.get_by_role("link", name="invoice-17").click()

            doubt = page.locator(".notice")
            await _said(page, doubt, "Nobody knows whether payments did it", "POST /payments", "outcome-unknown")
            await _said(page, doubt, "look at the API itself", "repeats are told that it is done", "account/acme")
            assert re.search(r"Sent: POST /payments, at \d\d:\d\d:\d\d\.\d{3}", await doubt.inner_text())
            await _said(page, page.locator(".steps"), "as ordered", "in flight → unknown")
            await _said(page, page.locator("pre.body"), '"amount": 125000')
            await _decide(page, "Resolve", "Resolve", "in the bank's books, 14:02", choice="It was applied")
            await expect(page.locator(".title .badge")).to_have_text("Applied")
            await expect(doubt).to_have_count(0)
            await page.get_by_role("link", name="Now").click()
            await expect(page.get_by_text("Nothing waits for you.")).to_be_visible()

        again = await _pay(gateway, token)
        assert (again.status, again.decision) == (200, "replayed"), again.body
        assert json.loads(again.body)["resolved_by"] == "operator"
        assert sum(seen.line.startswith("POST /payments") for seen in bank.seen) == 1


async def _decide(page: Page, action: str, verb: str, note: str, choice: str | None = None) -> None:
    await page.get_by_role("button", name=action, exact=True).click()
    dialog = page.get_by_role("dialog")
    if choice is not None:
        await dialog.get_by_text(choice, exact=True).click()
    await dialog.get_by_label("Note").fill(note)
    await dialog.get_by_role("button", name=verb, exact=True).click()
    await expect(dialog).to_have_count(0)


@contextlib.contextmanager
def _durable(directory: Path) -> Iterator[Server]:
    """A store that answers only what is on its disk: killed, it has lost nothing."""
    directory.mkdir()
    server = Server(find_server(), directory, "--save", "", "--appendonly", "yes", "--appendfsync", "always")
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextlib.asynccontextmanager
async def _before(store: Server, directory: Path) -> AsyncIterator[Gateway]:
    async with RecordingUpstream() as upstream:
        policies = write_policy(directory, upstream.port)
        async with Gateway(policies, directory / "one", store.url) as gateway:
            yield gateway


async def test_a_store_goes_away_and_comes_back(tmp_path: Path) -> None:
    """Said within seconds, with what agents meet and what to do; over by itself once it is back."""
    with _durable(tmp_path / "store") as store:
        async with _before(store, tmp_path) as gateway, _console(f"127.0.0.1:{gateway.admin}") as page:
            token = str((await gateway.lease("leased/7", "agent-a", ttl_s=600))["token"])
            store.kill()
            notice = page.locator("#store-away")
            await expect(notice).to_be_visible(timeout=SOON_MS)
            await _said(page, notice, "503 store-unavailable", "They wait and repeat it", "fencegate doctor")
            await _said(page, notice, "Writes go on by themselves")
            await expect(page.locator(".pulse")).to_have_text("Store away")
            await page.get_by_role("link", name="Resources").click()
            await _said(page, page.locator("#alarm"), "The store is away", "What to do")
            refused = await gateway.put_leased("7", token)
            assert (refused.status, refused.decision) == (503, "store-unavailable")

            store.start()
            await expect(page.locator(".pulse")).to_have_text("Store up", timeout=SOON_MS)
            await expect(page.locator("#alarm")).to_be_empty()
            await expect(page.get_by_role("link", name="leased/7")).to_be_visible()
            await _written(gateway, "7", token)


async def _written(gateway: Gateway, report: str, token: str) -> None:
    """Its lease lives on, and the write passes as soon as the gateway has its store again."""

    async def passes() -> bool:
        return (await gateway.put_leased(report, token)).status == 200

    await until(passes, within_s=60)


async def test_a_gateway_that_falls_silent_is_told_of(tmp_path: Path) -> None:
    """It takes connections and says nothing: what is shown is said to be old, until it answers again."""
    with _durable(tmp_path / "store") as store:
        async with _before(store, tmp_path) as gateway, _console(f"127.0.0.1:{gateway.admin}") as page:
            await expect(page.locator(".pulse")).to_have_text("Store up")
            os.kill(gateway.pid, signal.SIGSTOP)
            try:
                await expect(page.locator(".pulse")).to_have_text("No answer", timeout=SOON_MS)
                await _said(page, page.locator("#alarm"), "What is shown here is what was known last")
            finally:
                os.kill(gateway.pid, signal.SIGCONT)
            await expect(page.locator(".pulse")).to_have_text("Store up", timeout=SOON_MS)
            await expect(page.locator("#alarm")).to_be_empty()


async def test_a_store_that_lost_its_data_is_accepted(tmp_path: Path) -> None:
    """What agents meet, what to see to before, what accepting means; then writes go on."""
    with _durable(tmp_path / "store") as store:
        async with _before(store, tmp_path) as gateway, _console(f"127.0.0.1:{gateway.admin}", 409) as page:
            old = str((await gateway.lease("leased/7", "agent-a", ttl_s=600))["token"])
            await _written(gateway, "7", old)
            store.kill()
            shutil.rmtree(tmp_path / "store" / "appendonlydir")
            store.start()
            notice = page.locator(".notice.bad").filter(has_text="has lost what it acknowledged")
            await expect(notice).to_be_visible(timeout=SOON_MS)
            await _said(page, notice, "503 store-regressed", "To do: see what was done in the time that was lost")
            await _said(page, page.locator("#alarm"), "has lost what it acknowledged")
            assert (await gateway.put_leased("7", old)).decision == "store-regressed"

            await page.get_by_role("button", name="Go on after the loss").click()
            dialog = page.get_by_role("dialog")
            await _said(page, dialog, "Leases from before the loss have ended for good")
            await dialog.get_by_label("Note").fill("compared with the reports themselves")
            await until(lambda: page.evaluate(_PRESS), within_s=60)
            await expect(notice).to_have_count(0)
            await expect(page.locator("#alarm")).to_be_empty()
            await page.get_by_role("link", name="Audit").click()
            await _said(page, page.locator("main"), "loss was accepted", "compared with the reports")

            new = str((await gateway.lease("leased/7", "agent-b"))["token"])
            await _written(gateway, "7", new)
            assert (await gateway.put_leased("7", old)).status == 412
