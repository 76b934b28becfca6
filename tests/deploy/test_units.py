"""The systemd units: what systemd itself says of them, and what they share with the program that they start."""

import asyncio
import ctypes
import shlex
import shutil
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest
from click.testing import CliRunner

from gateway.cli import main
from gateway.serve.starting import GRACE_BEYOND_TOTAL_S
from gateway.serve.supervisor import KILL_AFTER_GRACE_S
from gateway.store.embedded import _STOP_WITHIN_S
from tests.gateway_process import GatewayProcess, write_policy
from tests.pages import ROOT
from tests.until import STARTS_WITHIN_S, until

UNITS = ("fencegate.service", "fencegate-deliver.service")
PROGRAM = "/opt/fencegate/bin/fencegate"
# The largest `timeouts.total` of the policies in the repository is below it, and so is the default.
LONGEST_TOTAL_S = 30.0
# <linux/prctl.h>: what MemoryDenyWriteExecute does, without systemd.
DENY_WRITE_EXECUTE = (
    "import ctypes, os, sys; assert not ctypes.CDLL(None).prctl(65, 1, 0, 0, 0); os.execv(*sys.argv[1:2], sys.argv[1:])"
)
analyze = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze on PATH")


def service(unit: str) -> dict[str, str]:
    """The settings of the unit's service; of those that are there twice, the last."""
    parser = RawConfigParser(strict=False, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # names are case-sensitive there
    parser.read_string((ROOT / "deploy" / unit).read_text())
    return dict(parser["Service"])


@analyze
@pytest.mark.parametrize("unit", UNITS)
def test_systemd_finds_nothing_wrong(unit: str, tmp_path: Path) -> None:
    """Neither an unknown setting nor a value that it would pass over."""
    placed = tmp_path / unit
    placed.write_text((ROOT / "deploy" / unit).read_text().replace(PROGRAM, sys.executable))

    found = subprocess.run(["systemd-analyze", "verify", str(placed)], capture_output=True, text=True, check=False)

    assert (found.returncode, [line for line in found.stderr.splitlines() if unit in line]) == (0, [])


@analyze
@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_exposes_little(unit: str) -> None:
    """By systemd's own reckoning, of 10 for everything; what is left is the network, which it is there for."""
    file = str(ROOT / "deploy" / unit)

    found = subprocess.run(
        ["systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", file],
        capture_output=True,
        text=True,
        check=False,
    )

    assert found.returncode == 0, found.stdout.splitlines()[-1]


@pytest.mark.parametrize("unit", UNITS)
def test_what_a_unit_starts_is_there(unit: str) -> None:
    """The command, and each option that it is given."""
    program, command, *options = shlex.split(service(unit)["ExecStart"])
    help_text = CliRunner().invoke(main, [command, "--help"]).output

    assert program == PROGRAM
    assert all(option in help_text for option in options if option.startswith("--"))


def test_systemd_waits_as_long_as_a_gateway_takes_to_stop() -> None:
    """Else it kills one that has writes in flight, and they end as unknown."""
    needs_s = LONGEST_TOTAL_S + GRACE_BEYOND_TOTAL_S + KILL_AFTER_GRACE_S + _STOP_WITHIN_S

    assert float(service("fencegate.service")["TimeoutStopSec"]) >= needs_s


@pytest.mark.parametrize("unit", UNITS)
def test_no_secret_is_in_a_unit(unit: str) -> None:
    """Everybody may read it, and its command line; secrets come from a file of root's."""
    said = service(unit)

    assert "/etc/fencegate/environment" in said["EnvironmentFile"]
    assert said["Environment"] == "TMPDIR=/var/tmp"
    assert "--store" not in said["ExecStart"]


@pytest.mark.slow
@pytest.mark.skipif(
    not sys.platform.startswith("linux") or ctypes.CDLL(None).prctl(66, 0, 0, 0, 0) < 0,
    reason="no PR_SET_MDWE here (Linux 6.3)",
)
async def test_nothing_wants_memory_to_be_writable_and_executable(tmp_path: Path) -> None:
    """Neither Python with its libraries nor the bundled store."""
    write_policy(tmp_path, 1)
    log = tmp_path / "gateway.log"
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", DENY_WRITE_EXECUTE, sys.executable, "-m", "gateway", "serve"),
            *("--policies", str(tmp_path / "policies"), "--data-dir", str(tmp_path / "data")),
            *("--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log-format", "json"),
            stderr=stderr,
        )
    gateway = GatewayProcess(process, log)
    await until(lambda: bool(gateway.logged("ready")) or process.returncode is not None, within_s=STARTS_WITHIN_S)
    token = await gateway.lease("report/7")
    process.terminate()

    assert token
    assert await asyncio.wait_for(process.wait(), 60) == 0
