"""The set in force is replaced as a whole, or stays."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.policy.reload import PolicyHolder, Reloaded
from tests.policy.asking import HEAD, one_rule


@pytest.fixture
def holder(tmp_path: Path) -> PolicyHolder:
    (tmp_path / "policy.yaml").write_text(one_rule())
    opened = PolicyHolder.open(tmp_path, {})
    assert isinstance(opened, PolicyHolder)
    return opened


def test_good_files_come_into_force(holder: PolicyHolder, tmp_path: Path) -> None:
    """A reload says what is in force now."""
    (tmp_path / "more.yaml").write_text(
        "upstream: more\nurl: http://x\nmount: {path: /more}\nwrites: [{name: a, match: PUT /more, resource: m}]\n"
    )

    assert holder.reload() == Reloaded(2, 2)
    assert [upstream.name for upstream in holder.current.upstreams] == ["more", "api"]


def half(path: Path) -> None:
    text = path.read_text()
    path.write_text(text[: len(text) * 2 // 3])


BAD: dict[str, Callable[[Path], object]] = {
    "syntax error": lambda path: path.write_text("writes: ["),
    "unknown field": lambda path: path.write_text(one_rule() + "    fense: {}\n"),
    "one bad rule of two": lambda path: path.write_text(one_rule() + "  - {name: b, match: PUT, resource: r}\n"),
    "empty": lambda path: path.write_text(""),
    "half-written": half,
    "deleted": Path.unlink,
    "a directory in its place": lambda path: (path.unlink(), path.mkdir()),
    "the whole directory deleted": lambda path: shutil.rmtree(path.parent),
}


@pytest.mark.parametrize("damage", BAD.values(), ids=BAD.keys())
def test_bad_files_leave_the_old_set_in_force(
    holder: PolicyHolder, tmp_path: Path, damage: Callable[[Path], object]
) -> None:
    """Whatever has become of the files, the running set stays, and the findings say why."""
    before = holder.current
    damage(tmp_path / "policy.yaml")

    answer = holder.reload()

    assert isinstance(answer, tuple)
    assert answer
    assert holder.current is before


def test_the_first_load_fails_with_findings(tmp_path: Path) -> None:
    """There is no old set to fall back on at the start."""
    assert isinstance(PolicyHolder.open(tmp_path, {}), tuple)


def test_a_change_shows_once_it_has_settled(holder: PolicyHolder, tmp_path: Path) -> None:
    """A look that finds the files moving waits for the next one, so that half a file is not read."""
    assert not holder.changed()

    (tmp_path / "policy.yaml").write_text(HEAD)
    assert not holder.changed()
    (tmp_path / "policy.yaml").write_text(HEAD + "writes: []\n")
    assert not holder.changed()

    assert holder.changed()
    assert holder.reload() == Reloaded(1, 0)
    assert not holder.changed()


def test_a_failed_reload_is_not_tried_again_before_the_files_change(holder: PolicyHolder, tmp_path: Path) -> None:
    """A bad file is reported once, not once a second."""
    (tmp_path / "policy.yaml").write_text("")
    looks = [holder.changed(), holder.changed()]
    holder.reload()

    assert looks == [False, True]
    assert not holder.changed()
    assert not holder.changed()


def test_test_files_are_no_policies(holder: PolicyHolder, tmp_path: Path) -> None:
    """Writing a test beside a policy changes nothing that is in force."""
    (tmp_path / "policy.test.yaml").write_text("cases: []\n")

    assert not holder.changed()
    assert not holder.changed()
