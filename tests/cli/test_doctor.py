"""`fencegate doctor`: what a store can give, and what would be better."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from gateway.cli import main
from gateway.store.loss.kept_marks import KeptMarks
from tests.store.server import Server


def doctor(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["doctor", *arguments])


def test_the_bundled_store_can_give_what_is_asked_of_its_disk(tmp_path: Path) -> None:
    """It is examined as `serve --durability disk` would start it."""
    (tmp_path / "data").mkdir()

    result = doctor("--data-dir", str(tmp_path / "data"), "--durability", "disk", "--json")

    shown = json.loads(result.stdout)
    found = {check["name"]: check for check in shown["checks"]}
    assert (result.exit_code, shown["ok"]) == (0, True), shown
    assert found["durability"]["saw"] == "disk, with appendfsync always"
    assert found.keys() >= {"role", "replicas", "functions", "memory", "latency"}


def test_no_store_is_begun_beside_the_marks_of_another(tmp_path: Path) -> None:
    """A gateway with a store elsewhere has a data directory too, and nobody uses what would be examined there."""
    kept = KeptMarks.open(tmp_path / "data", "redis://store:6379?db=0", pytest.fail)
    assert kept is not None
    kept.keep({})
    kept.close()
    names = {path.name for path in (tmp_path / "data").iterdir()}

    result = doctor("--data-dir", str(tmp_path / "data"))

    assert result.exit_code == 1
    assert f"There is no store in {tmp_path}/data: give another, or a store with --store." in result.output
    assert {path.name for path in (tmp_path / "data").iterdir()} == names


def test_what_a_store_cannot_give_is_told_before_gateways_are_started(store_server: Server) -> None:
    """With what to do, in a line of its own; what would only be better does not change the status."""
    result = doctor("--store", store_server.url, "--durability", "replica:2")

    assert result.exit_code == 1
    assert "BAD durability: replica:2, with 0 replicas online\n    Start replicas" in result.stdout
    assert "see memory: " in result.stdout


@pytest.mark.parametrize("written", ["replica", "fsync", "replica:0"])
def test_a_slip_in_the_option_is_told(store_server: Server, written: str) -> None:
    """Not examined as something else."""
    result = doctor("--store", store_server.url, "--durability", written)

    assert result.exit_code == 2
    assert "write process, disk or replica:N" in result.stderr
