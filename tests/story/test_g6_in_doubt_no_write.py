"""G6: when in doubt, no write; reads go on."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from tests.raw import ask
from tests.recording import RecordingUpstream
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policy
from tests.until import until

pytestmark = pytest.mark.promise("G6")


async def test_no_store_no_write(shared_store: Server, tmp_path: Path) -> None:
    """The store is killed: writes are refused unsent, reads pass; it comes back, and the fence holds as before."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with Gateway(policies, tmp_path / "one", shared_store.url) as one:
            before = await one.put("7", 42, "b", body=b'"before"')
            shared_store.kill()
            away = await one.put("7", 43, "c", body=b'"away"')
            read = await ask(one.port, "GET", "/reports/7")
            shared_store.start()

            async def is_back() -> bool:
                return (await one.put("7", 42, "b", body=b'"back"')).status == 200

            await until(is_back)
            older = await one.put("7", 41, "a")

        assert before.status == 200
        assert (away.status, away.decision, away.problem["action"]) == (503, "store-unavailable", "retry")
        assert away.value("Retry-After") is not None
        assert (read.status, read.decision) == (200, "passed")
        assert (older.status, older.problem["highest_epoch"]) == (412, "42")
        assert b'"away"' not in [seen.body for seen in upstream.seen]


async def test_the_embedded_store_is_started_again_when_it_dies(tmp_path: Path) -> None:
    """kill -9 of the embedded store under load: no caller sees an error for it, and every epoch is still there."""
    async with RecordingUpstream() as upstream:
        async with Gateway(write_policy(tmp_path, upstream.port), tmp_path / "one") as one:
            await one.put("7", 42, "b")
            pid = int((tmp_path / "one" / "data" / "store.lock").read_text().split()[0])
            os.kill(pid, signal.SIGKILL)
            answers = await asyncio.gather(*(one.put(str(n), 42, "b") for n in range(7, 17)))
            older = await one.put("7", 41, "a")

        assert [answer.status for answer in answers] == [200] * 10
        assert older.decision == "stale-epoch"
        assert len(upstream.seen) == 11


async def test_what_no_rule_allows_or_what_can_be_read_twice_is_not_sent(tmp_path: Path) -> None:
    """No rule, two readings, no proof: refused before anything moves."""
    async with RecordingUpstream() as upstream:
        async with Gateway(write_policy(tmp_path, upstream.port), tmp_path / "one") as one:
            await one.put("7", 42, "b")
            shown = ("Fencing-Token: 50", "Fencing-Holder: x")
            refused = [
                await ask(one.port, "DELETE", "/reports/7", *shown),
                await ask(one.port, "PUT", "/reports/x/../7", *shown, body=b"{}"),
                await ask(one.port, "PUT", "/reports/7;v=1", *shown, body=b"{}"),
                await ask(one.port, "PUT", "/reports/7", body=b"{}"),
            ]
            resource = await one.resource("report/7")

        decisions = [answer.decision for answer in refused]
        assert decisions == ["no-policy", "ambiguous-target", "ambiguous-target", "token-required"]
        assert resource["epoch"] == "42"
        assert len(upstream.seen) == 1
