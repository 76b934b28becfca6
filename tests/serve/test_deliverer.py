"""A process that only delivers: started and ended as an operator does it."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import pytest

from gateway.core.write import Write
from gateway.store.fence import FenceStore
from tests.raw import ask
from tests.recording import RecordingUpstream
from tests.store.fences import opened, state_of
from tests.store.parked import REQUEST, id_of, mail, parked
from tests.until import STARTS_WITHIN_S, until

POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
writes:
  - {{name: replace, match: "POST /mails", resource: report/7, authority: header, delivery: queued,
      intent: {{mode: required}}}}
"""


async def start(policies: Path, log: Path, *options: str) -> asyncio.subprocess.Process:
    with log.open("ab") as lines:
        return await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "deliver", "--policies", str(policies), "--log-format", "json"),
            *options,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=lines,
            stderr=lines,
        )


async def until_applied(store: FenceStore, write: Write) -> None:
    """Wait until a deliverer that starts has delivered it."""

    async def is_applied() -> bool:
        return await state_of(store, id_of(write)) == "applied"

    await until(is_applied, within_s=STARTS_WITHIN_S)


async def test_it_delivers_what_others_have_queued(store_url: str, tmp_path: Path) -> None:
    """And ends with status 0 when it is told to."""
    one, log = mail("one"), tmp_path / "log"
    async with RecordingUpstream() as upstream, opened(store_url) as store:
        policies = tmp_path / "policies"
        policies.mkdir()
        (policies / "reports.yaml").write_text(POLICY.format(port=upstream.port))
        await parked(store, one)

        process = await start(policies, log, "--store", store_url)
        try:
            await until_applied(store, one)
        finally:
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0, log.read_text()

    [seen] = upstream.seen
    assert seen.head.startswith(b"POST /mails?x=1 HTTP/1.1\r\n") and seen.body == REQUEST.body


@pytest.mark.slow
async def test_it_can_be_watched(store_url: str, tmp_path: Path) -> None:
    """What it has sent is counted, at the address that it was given."""
    one, log, policies = mail("one"), tmp_path / "log", tmp_path / "policies"
    async with RecordingUpstream() as upstream, opened(store_url) as store:
        policies.mkdir()
        (policies / "reports.yaml").write_text(POLICY.format(port=upstream.port))
        process = await start(policies, log, "--store", store_url, "--metrics", "127.0.0.1:0")
        try:
            await until(lambda: '"delivering"' in log.read_text(), within_s=STARTS_WITHIN_S)
            [line] = [line for line in log.read_text().splitlines() if '"watched"' in line]
            port = int(json.loads(line)["metrics"].partition(":")[2].rpartition(":")[2].partition("/")[0])
            await parked(store, one)

            async def is_counted() -> bool:
                shown = (await ask(port, "GET", "/metrics")).body.decode().splitlines()
                return "fencegate_upstream_seconds_count 1.0" in shown

            await until(is_counted, within_s=STARTS_WITHIN_S)
            assert (await ask(port, "GET", "/readyz")).status == 200
        finally:
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0, log.read_text()


@pytest.mark.slow
async def test_it_follows_the_policy_files(store_url: str, tmp_path: Path) -> None:
    """As gateways do: what one of them has taken by newer files is not given up meanwhile."""
    one, log, policies = mail("one"), tmp_path / "log", tmp_path / "policies"
    async with RecordingUpstream() as upstream, opened(store_url) as store:
        text = POLICY.format(port=upstream.port)
        policies.mkdir()
        (policies / "reports.yaml").write_text(text.replace("POST /mails", "POST /letters"))
        process = await start(policies, log, "--store", store_url)
        try:
            await until(lambda: '"delivering"' in log.read_text(), within_s=STARTS_WITHIN_S)
            await parked(store, one)
            (policies / "reports.yaml").write_text(text)
            await until_applied(store, one)
        finally:
            process.send_signal(signal.SIGTERM)
            assert await process.wait() == 0, log.read_text()


@pytest.mark.parametrize(
    ("policy", "store", "told"),
    [
        ("upstream: [", "redis://localhost:1", "have errors; `fencegate check"),
        (POLICY.format(port=9), "redis://localhost:1", "Is its address right, and its user and password?"),
        (POLICY.format(port=9), "http://localhost", "--store or FENCEGATE_STORE must be a URL"),
    ],
    ids=["bad policies", "no store there", "no store's URL"],
)
async def test_what_is_wrong_is_said_at_the_start(policy: str, store: str, told: str, tmp_path: Path) -> None:
    """In one line, with what to do, and no traceback."""
    policies, log = tmp_path / "policies", tmp_path / "log"
    policies.mkdir()
    (policies / "reports.yaml").write_text(policy)

    process = await start(policies, log, "--store", store)

    assert await process.wait() == 1
    assert told.lower() in log.read_text().lower() and "Traceback" not in log.read_text()
