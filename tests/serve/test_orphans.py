"""A gateway that is process 1 of its container."""

import asyncio
import ctypes
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.serve.orphans import reap_orphans
from tests.gateway_process import GatewayProcess, write_policy
from tests.until import STARTS_WITHIN_S, until

# <linux/prctl.h>
PR_SET_NAME, PR_GET_NAME = 15, 16
PR_SET_CHILD_SUBREAPER = 36
pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="containers run Linux")


@pytest.fixture
def parent_of_orphans() -> Iterator[None]:
    """This process is to its descendants what process 1 is to all."""
    libc = ctypes.CDLL(None)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    yield
    libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


async def test_an_orphan_is_taken_leave_of(parent_of_orphans: None) -> None:
    """Once it has ended, the system forgets it."""
    reaping = asyncio.ensure_future(reap_orphans(0.02))
    left = await asyncio.create_subprocess_shell("sleep 0.01 & echo $!", stdout=subprocess.PIPE)
    told, _ = await left.communicate()

    await until(lambda: not Path(f"/proc/{int(told)}").exists())

    reaping.cancel()


async def test_a_process_of_its_own_keeps_its_exit_status(parent_of_orphans: None) -> None:
    """Whoever started it is told how it ended."""
    reaping = asyncio.ensure_future(reap_orphans(0.2))
    ended = [await (await asyncio.create_subprocess_shell(f"exit {code}")).wait() for code in (0, 7)]

    assert ended == [0, 7]
    reaping.cancel()


async def test_a_process_may_be_called_anything() -> None:
    """Its name is bytes, and any process of the container has one: the gateway goes on."""
    libc, name = ctypes.CDLL(None), ctypes.create_string_buffer(16)
    assert libc.prctl(PR_GET_NAME, name) == 0
    assert libc.prctl(PR_SET_NAME, b"\xff) Z 1") == 0
    try:
        reaping = asyncio.ensure_future(reap_orphans(0.02))
        done, _ = await asyncio.wait((reaping,), timeout=0.2)
        reaping.cancel()
    finally:
        libc.prctl(PR_SET_NAME, name)

    assert not done


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="wants root and unshare")
async def test_a_gateway_is_process_1(tmp_path: Path) -> None:
    """With the bundled store and a worker below it, it stops at SIGTERM, and leaves no process behind that ended."""
    write_policy(tmp_path, 1)
    log = tmp_path / "gateway.log"
    with log.open("wb") as stderr:
        outside = await asyncio.create_subprocess_exec(
            *("unshare", "--pid", "--fork", "--mount-proc", "--kill-child"),
            *(sys.executable, "-m", "gateway", "serve", "--policies", str(tmp_path / "policies")),
            *("--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data-dir", str(tmp_path / "data")),
            *("--log-format", "json"),
            stderr=stderr,
        )
    gateway = GatewayProcess(outside, log)
    await until(lambda: bool(gateway.logged("ready")), within_s=STARTS_WITHIN_S)
    inside = int(Path(f"/proc/{outside.pid}/task/{outside.pid}/children").read_text())
    within = ("nsenter", "--target", str(inside), "--pid", "--mount")
    told = subprocess.run([*within, "sh", "-c", "sleep 0.01 & echo $!"], capture_output=True, check=True).stdout

    def is_gone() -> bool:
        return bool(subprocess.run([*within, "test", "-e", f"/proc/{int(told)}"], check=False).returncode)

    await until(is_gone)
    os.kill(inside, signal.SIGTERM)

    assert await asyncio.wait_for(outside.wait(), 60) == 0
    assert gateway.logged("stopped")
