"""The scripts as text: clean Lua, each opening with what it promises, needs and writes."""

import shutil
import subprocess
from importlib.resources import files

import pytest

from gateway.store.script import Script

NAMES = sorted(
    entry.name.removesuffix(".lua") for entry in (files("gateway.store") / "scripts").iterdir() if entry.is_file()
)
# Every script is given all the parts, whether or not it uses each.
UNUSED_PARTS = "241"


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
    options = ["--std", "lua51", "--globals", "redis", "KEYS", "ARGV", "cjson", "cmsgpack", "--ignore", UNUSED_PARTS]

    checked = subprocess.run(
        ["luacheck", "-", *options], input=Script(name).text, check=False, capture_output=True, text=True
    )

    assert checked.returncode == 0, checked.stdout
