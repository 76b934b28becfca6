"""The scripts as text: clean Lua, each opening with what it promises, needs and writes; and how a server runs them."""

import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

from gateway.store.fence import FenceStore
from gateway.store.script import BUDGET_PARTS, KEEPING_PARTS, PRUNING_PARTS, SENDING_PARTS, Script
from tests.store.fences import bare, ended, opened

NAMES = sorted(
    entry.name.removesuffix(".lua") for entry in (files("gateway.store") / "scripts").iterdir() if entry.is_file()
)
# Every script is given the same parts, whether or not it uses each; but for these.
UNUSED_PARTS = "241"
GLOBALS = ("redis", "KEYS", "ARGV", "cjson", "cmsgpack", "struct")
PARTS = {
    **dict.fromkeys(("quarantine", "drop", "recount"), KEEPING_PARTS),
    **dict.fromkeys(("claim", "report", "resend"), SENDING_PARTS),
    **dict.fromkeys(("reserve", "give_back", "confirm", "usage"), BUDGET_PARTS),
    "prune": PRUNING_PARTS,
    "census": (),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_script_opens_with_its_five_blocks(name: str) -> None:
    """Promise, KEYS, ARGV, returns, writes: in this order, before the first statement."""
    text = (files("gateway.store") / "scripts" / f"{name}.lua").read_text()
    header = [line for line in text.splitlines() if line.startswith("-- ")][: text.splitlines().index("")]

    blocks = [line.split()[1] for line in header if line[3] != " "]
    assert blocks[:5] == ["Promise", "KEYS", "ARGV", "Returns", "Writes"]


@pytest.mark.skipif(shutil.which("luacheck") is None, reason="no luacheck on PATH")
@pytest.mark.parametrize("name", NAMES)
def test_a_script_is_clean_lua(name: str) -> None:
    """As the server gets it: the shared parts before the script."""
    options = ["--std", "lua51", "--globals", *GLOBALS, "--ignore", UNUSED_PARTS]

    script = Script(name, PARTS[name]) if name in PARTS else Script(name)
    checked = subprocess.run(
        ["luacheck", "-", *options], input=script.text, check=False, capture_output=True, text=True
    )

    assert checked.returncode == 0, checked.stdout


def ran(raw: Any, command: str) -> int:
    """How often the server has run the command and had no error."""
    stats = raw.info("commandstats").get(f"cmdstat_{command}", {"calls": 0, "failed_calls": 0, "rejected_calls": 0})
    return int(stats["calls"] - stats["failed_calls"])


async def test_what_every_write_calls_is_a_function(store: FenceStore, raw: Any) -> None:
    """The first call finds none, runs as a script and loads the library; so it is again after a flush."""
    for _ in range(2):
        raw.function_flush()
        raw.config_resetstat()
        for _ in range(3):
            await ended(store, bare(42), "applied")

        assert (ran(raw, "fcall"), ran(raw, "function|load")) == (5, 1)
        assert ran(raw, "evalsha") + ran(raw, "eval") == 1


async def test_who_may_not_call_functions_runs_scripts(store_url: str, raw: Any) -> None:
    """It is asked once, and every call is answered."""
    raw.function_flush()
    raw.acl_setuser("scripts", enabled=True, nopass=True, keys=["*"], channels=["*"], commands=["+@all", "-fcall"])
    raw.config_resetstat()
    try:
        async with opened(store_url.replace("unix://", "unix://scripts:x@")) as store:
            for _ in range(3):
                await ended(store, bare(42), "applied")
    finally:
        raw.acl_deluser("scripts")

    assert (ran(raw, "fcall"), ran(raw, "function|load")) == (0, 0)
    assert ran(raw, "evalsha") + ran(raw, "eval") >= 6


async def test_a_library_that_is_refused_is_not_sent_again_and_again(store_url: str, raw: Any) -> None:
    """Who may not load it runs scripts until it connects anew."""
    raw.function_flush()
    raw.acl_setuser("scripts", enabled=True, nopass=True, keys=["*"], channels=["*"], commands=["+@all", "-function"])
    raw.config_resetstat()
    try:
        async with opened(store_url.replace("unix://", "unix://scripts:x@")) as store:
            for _ in range(3):
                await ended(store, bare(42), "applied")
    finally:
        raw.acl_deluser("scripts")

    assert raw.info("commandstats")["cmdstat_fcall"]["calls"] == 1
