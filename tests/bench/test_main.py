"""The command: what it can be told, and what it says where it cannot run."""

import sys

import pytest
from click.testing import CliRunner

from tests.bench.__main__ import main
from tests.bench.packages import missing_packages


def test_help_names_every_group() -> None:
    """Nobody should have to read the code to measure one thing only."""
    said = CliRunner().invoke(main, ["--help"]).output

    for name in ("throughput", "latency", "workers", "growth", "hot", "memory", "durability", "queue", "match"):
        assert name in said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="elsewhere it says so, and no more")
def test_what_the_machine_lacks_is_named_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line, all of it at once."""
    monkeypatch.setenv("PATH", "/nonexistent")
    missing = missing_packages()
    assert {"nginx", "wrk", "redis-server"} <= set(missing)

    result = CliRunner().invoke(main, ["throughput"])

    assert result.exit_code == 1
    assert result.output.endswith(f"apt-get install -y {' '.join(missing)}\n")
    assert result.output.count("\n") == 1
