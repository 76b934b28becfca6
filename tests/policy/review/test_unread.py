"""Directories among the policies."""

from pathlib import Path

import pytest

from gateway.policy.review.unread import unread_directories


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            ["sub/principals.yaml", "sub/a.yaml"],
            "`principals.yaml` in this directory is not read: nobody in it may call",
        ),
        (["sub/a.yml"], "`a.yml` in this directory is not read: no rule in it counts"),
        (["sub/notes.md"], None),
        (["..data/principals.yaml"], None),
        (["a.yaml"], None),
    ],
    ids=["principals", "a policy", "something else", "the system's own", "no directory"],
)
def test_what_is_not_read_is_told(tmp_path: Path, files: list[str], told: str | None) -> None:
    """Whoever put it there believes that it counts."""
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x: y\n")

    found = unread_directories(tmp_path)

    assert [(one.file, one.severity) for one in found] == ([(f"{tmp_path}/sub", "warning")] if told else [])
    assert told is None or found[0].message.startswith(told)


def test_one_that_cannot_be_looked_into_hides_no_other(tmp_path: Path) -> None:
    """A link to a name that no system takes."""
    (tmp_path / "broken").symlink_to("x" * 1000)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.yaml").write_text("x: y\n")

    assert [one.file for one in unread_directories(tmp_path)] == [f"{tmp_path}/sub"]


def test_a_directory_that_is_gone_has_none(tmp_path: Path) -> None:
    """That it is gone is told elsewhere."""
    assert unread_directories(tmp_path / "none") == ()
