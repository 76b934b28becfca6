"""The scripts as text: clean Lua, each opening with what it promises, needs and writes; and how a server runs them."""

import asyncio
import shutil
import subprocess
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from gateway.core.write import ResourceKey
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
def test_each_script_is_clean_lua(tmp_path: Path) -> None:
    """As the server gets it: the shared parts before the script."""
    for name in NAMES:
        script = Script(name, PARTS[name]) if name in PARTS else Script(name)
        (tmp_path / f"{name}.lua").write_text(script.text)
    options = ["--no-color", "--std", "lua51", "--globals", *GLOBALS, "--ignore", UNUSED_PARTS]

    checked = subprocess.run(["luacheck", ".", *options], cwd=tmp_path, check=False, capture_output=True, text=True)

    assert checked.returncode == 0, checked.stdout
    assert f"/ 0 errors in {len(NAMES)} files" in checked.stdout


def ran(raw: Any, command: str) -> int:
    """How often the server has run the command and had no error."""
    stats = raw.info("commandstats").get(f"cmdstat_{command}", {"calls": 0, "failed_calls": 0, "rejected_calls": 0})
    return int(stats["calls"] - stats["failed_calls"])


async def test_what_every_write_calls_is_a_function(store: FenceStore, raw: Any) -> None:
    """The first call finds none and loads the library; so it is again after a flush."""
    for _ in range(2):
        raw.function_flush()
        raw.config_resetstat()
        for _ in range(3):
            await ended(store, bare(42), "applied")

        assert (ran(raw, "fcall"), ran(raw, "function|load")) == (6, 1)
        assert ran(raw, "evalsha") + ran(raw, "eval") == 0


async def test_calls_that_miss_the_library_together_send_it_once(store: FenceStore, raw: Any) -> None:
    """A thousand copies of it would take more memory than all the rest of a gateway."""
    raw.function_flush()
    raw.config_resetstat()

    writes = [replace(bare(42), resource=ResourceKey(f"report/{number}")) for number in range(50)]
    await asyncio.gather(*(ended(store, write, "applied") for write in writes))

    assert (ran(raw, "fcall"), ran(raw, "function|load")) == (100, 1)


async def test_calls_that_miss_a_script_together_send_it_once(store: FenceStore, raw: Any) -> None:
    """The others wait for the first, and ask by the digest again."""
    raw.script_flush()
    raw.config_resetstat()

    await asyncio.gather(*(store.look(ResourceKey(f"report/{number}")) for number in range(50)))

    assert (ran(raw, "eval"), ran(raw, "evalsha")) == (1, 49)


async def three_writes_without(command: str, store_url: str, raw: Any) -> None:
    """By a user of the store who may not use this command; no library is loaded before."""
    raw.function_flush()
    commands = ["+@all", f"-{command}"]
    raw.acl_setuser("scripts", enabled=True, nopass=True, keys=["*"], channels=["*"], commands=commands)
    raw.config_resetstat()
    try:
        async with opened(store_url.replace("unix://", "unix://scripts:x@")) as store:
            for _ in range(3):
                await ended(store, bare(42), "applied")
    finally:
        raw.acl_deluser("scripts")


async def test_who_may_not_call_functions_runs_scripts(store_url: str, raw: Any) -> None:
    """It is asked once, and every call is answered."""
    await three_writes_without("fcall", store_url, raw)

    assert (ran(raw, "fcall"), ran(raw, "function|load")) == (0, 0)
    assert ran(raw, "evalsha") + ran(raw, "eval") >= 6


async def test_a_library_that_is_refused_is_not_sent_again_and_again(store_url: str, raw: Any) -> None:
    """Who may not load it runs scripts until it connects anew."""
    await three_writes_without("function", store_url, raw)

    assert raw.info("commandstats")["cmdstat_fcall"]["calls"] == 1
