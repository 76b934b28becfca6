"""The demo is a story too: real agents, one of them stopped by SIGSTOP, told by `fencegate demo`."""

import asyncio
import sys

import pytest


@pytest.mark.promise("G1")
@pytest.mark.promise("G2")
@pytest.mark.promise("G3")
@pytest.mark.promise("G4")
@pytest.mark.promise("G5")
async def test_the_demo_tells_its_story_to_the_end() -> None:
    """Each scene checks the answers and the upstream's own log; the paused agent is refused for real."""
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "demo", "--once"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await demo.communicate()
    told = output.decode()

    assert demo.returncode == 0, told
    assert "agent-a ← 412  Fencing-Decision: stale-epoch" in told
    assert told.count('executed {"text": "written by B"}') == 1
    assert "the old result of A" not in told.partition("own log of report 7")[2]
    assert "agent-b ← 409  Fencing-Decision: outcome-unknown" in told
    assert "Idempotent-Replayed: true" in told
