"""The copy of the policy files in force: whole, or the one before it."""

from pathlib import Path

import pytest

from gateway.serve.snapshot import Snapshot


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "source").mkdir()
    (tmp_path / "target").mkdir()
    (tmp_path / "source" / "a.yaml").write_text("first")
    return tmp_path / "source"


def test_a_copy_takes_the_place_of_the_one_before(source: Path) -> None:
    """In one step: there is always one in force."""
    snapshot = Snapshot(source, source.parent / "target")
    assert snapshot.take()
    (source / "a.yaml").write_text("second")

    assert snapshot.take()
    assert (snapshot.current / "a.yaml").read_text() == "second"


def test_files_that_are_not_there_are_no_copy(source: Path) -> None:
    """Deleted a moment ago: the copy in force stays."""
    snapshot = Snapshot(source, source.parent / "target")
    assert snapshot.take()
    (source / "a.yaml").unlink()

    assert not snapshot.take()
    assert (snapshot.current / "a.yaml").read_text() == "first"


@pytest.mark.parametrize("in_the_way", ["2", "next"], ids=["no copy", "no link to it"])
def test_a_copy_that_cannot_be_made_leaves_the_one_in_force(in_the_way: str, source: Path) -> None:
    """Such as on a full disk; it is made once that is over, whatever was left behind."""
    target = source.parent / "target"
    snapshot = Snapshot(source, target)
    assert snapshot.take()
    (source / "a.yaml").write_text("second")
    (target / in_the_way).mkdir() if in_the_way == "next" else (target / in_the_way).touch()

    with pytest.raises(OSError, match=in_the_way):
        snapshot.take()
    assert (snapshot.current / "a.yaml").read_text() == "first"

    (target / in_the_way).rmdir() if in_the_way == "next" else (target / in_the_way).unlink()
    assert snapshot.take()
    assert (snapshot.current / "a.yaml").read_text() == "second"
