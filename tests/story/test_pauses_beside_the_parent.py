"""A pause is obeyed by every worker, whatever its parent process does."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from gateway.core.pause import Scope
from gateway.serve.edition import SILENT_AFTER_S
from gateway.store.pauses import begin_pause, new_pause_id
from tests.raw import ask
from tests.recording import RecordingUpstream
from tests.store.fences import opened
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policies, write_policy
from tests.until import until

pytestmark = pytest.mark.slow

OBSERVED = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 5s}}
limits: {{connections: 1}}
writes:
  - {{name: watched, match: "PUT /reports/{{id}}", resource: "report/{{path.id}}", mode: observe}}
"""
# Whoever waited for the API's one connection when its worker was stopped waits no longer than this.
CONNECTS_WITHIN_S = 1.0


async def test_workers_of_a_stopped_parent_stop_what_is_paused(shared_store: Server, tmp_path: Path) -> None:
    """They read pauses themselves, before it counts that the parent says nothing of the policies."""
    async with RecordingUpstream() as upstream:
        policies = write_policy(tmp_path, upstream.port)
        async with Gateway(policies, tmp_path / "one", shared_store.url, ("--workers", "2")) as gateway:
            before = [(await gateway.put("7", 42, "a")).decision for _ in range(4)]
            os.kill(gateway.pid, signal.SIGSTOP)
            try:
                async with opened(shared_store.url) as store:
                    scope = Scope("upstream", "reports")
                    await begin_pause(store, scope, id=new_pause_id(), reason="a drill", by="operator")
                told: list[str | None] = []

                async def are_paused() -> bool:
                    told.extend([(await gateway.put("7", 42, "a")).decision for _ in range(8)])
                    return told[-8:] == ["paused"] * 8

                async with asyncio.timeout(SILENT_AFTER_S):
                    await until(are_paused)
                sent = len(upstream.seen)
                told.extend([(await gateway.put("7", 43, "b")).decision for _ in range(8)])
            finally:
                os.kill(gateway.pid, signal.SIGCONT)

        assert before == ["forwarded"] * 4
        assert set(told) <= {"forwarded", "paused"}
        assert set(told[-8:]) == {"paused"}
        assert len(upstream.seen) == sent


async def test_a_worker_that_was_stopped_passes_nothing_on_that_was_paused_meanwhile(
    shared_store: Server, tmp_path: Path
) -> None:
    """Not even what is only observed, in whichever step of it: it asks what is paused by now."""
    async with RecordingUpstream() as upstream:
        policies = write_policies(tmp_path, "reports.yaml", OBSERVED.format(port=upstream.port))
        async with Gateway(policies, tmp_path / "one", shared_store.url) as gateway:
            told, since, goes_on, is_over = list[str | None](), list[str | None](), False, False

            async def go_on_writing(number: int) -> None:
                while not is_over:
                    answer = await ask(gateway.port, "PUT", f"/reports/{number}", body=b"{}")
                    (since if goes_on else told).append(answer.decision)

            writing = [asyncio.ensure_future(go_on_writing(number)) for number in range(30)]
            await until(lambda: told.count("observed") > 100)
            gateway.pause()
            try:
                async with opened(shared_store.url) as store:
                    await begin_pause(store, Scope("all"), id=new_pause_id(), reason="a drill", by="operator")
                # The gateway is stopped and tells nothing by which this could be awaited: what it waits with for a
                # connection is to be past its time once it goes on.
                await asyncio.sleep(2 * CONNECTS_WITHIN_S)
                sent = len(upstream.seen)
            finally:
                goes_on = True
                gateway.go_on()
            await until(lambda: since.count("paused") > 100)
            is_over = True
            await asyncio.gather(*writing)

        # What was sent before is answered, and what waited too long for its connection told so.
        assert set(since) <= {"paused", "observed", "upstream-unreachable", "overloaded"}
        assert len(upstream.seen) == sent
