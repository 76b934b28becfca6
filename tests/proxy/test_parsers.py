"""The tables of this directory hold without aiohttp's compiled parser too: where no wheel fits, there is none."""

import subprocess
import sys
from pathlib import Path

import pytest

from gateway.settings import environment

_HERE = Path(__file__).parent
_RUN = """
import sys
import pytest
from aiohttp.http_parser import HttpRequestParser, HttpRequestParserPy
assert HttpRequestParser is HttpRequestParserPy
sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", "-m", "not slow", *sys.argv[1:]]))
"""


def _with_the_python_parser(*tests: str) -> None:
    command = (sys.executable, "-c", _RUN, *tests, f"--ignore={__file__}")
    ended = subprocess.run(
        command,
        cwd=_HERE.parent.parent,
        env=environment() | {"AIOHTTP_NO_EXTENSIONS": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stdout[-5_000:] + ended.stderr[-1_000:]


def test_framing_is_refused_by_the_python_parser() -> None:
    """Each fault of framing: 400, closed, and nothing of it seen upstream."""
    framing = _HERE / "test_framing.py"
    _with_the_python_parser(
        f"{framing}::test_faulty_framing_is_refused_and_its_connection_closed",
        f"{framing}::test_a_fault_inside_a_body_that_is_on_its_way_ends_it",
        f"{_HERE / 'test_writes.py'}::test_what_is_refused_reaches_no_upstream",
        f"{_HERE / 'test_connections.py'}::test_a_trailer_ends_its_connection",
    )


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_every_table_holds_with_the_python_parser() -> None:
    """Targets, fields, bodies, answers, writes: all of them."""
    _with_the_python_parser(str(_HERE))
