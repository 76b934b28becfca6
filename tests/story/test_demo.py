"""The demo is a story too: real agents, one of them stopped by SIGSTOP, told by `fencegate demo`."""

import asyncio
import signal
import sys
from pathlib import Path

import pytest

from gateway.settings import environment


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


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGHUP], ids=["told to end", "terminal closed"])
async def test_the_demo_leaves_nothing_behind(told: signal.Signals, tmp_path: Path) -> None:
    """Whenever it is ended: its processes end first, and then what they wrote is removed."""
    demo = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "gateway", "demo"),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env={**environment(), "TMPDIR": str(tmp_path), "PYTHONUNBUFFERED": "1"},
        # Where the suite itself runs under `nohup`, the demo would stay.
        preexec_fn=lambda: signal.signal(told, signal.SIG_DFL),
    )
    assert demo.stdout is not None
    while not (line := await demo.stdout.readline()).startswith(b"1  A falls asleep"):
        assert line, "it has ended by itself"
    assert list(tmp_path.iterdir()) != []
    demo.send_signal(told)
    await demo.communicate()

    assert list(tmp_path.iterdir()) == []
