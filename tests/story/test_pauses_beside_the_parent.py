"""A pause is obeyed by every worker, whatever its parent process does."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from gateway.core.pause import Scope
from gateway.serve.edition import SILENT_AFTER_S
from gateway.store.pauses import begin_pause, new_pause_id
from tests.recording import RecordingUpstream
from tests.store.fences import opened
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policy
from tests.until import until

pytestmark = pytest.mark.slow


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
