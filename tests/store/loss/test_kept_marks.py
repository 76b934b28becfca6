"""The file in which a gateway's memory of its stores outlives it."""

import stat
from pathlib import Path

import pytest

from gateway.core.loss import Remembered
from gateway.store.loss.kept_marks import KeptMarks, name_of

FILE = "store-marks.json"


def opened(directory: Path, store: str = "one") -> KeptMarks:
    kept = KeptMarks.open(directory, store, _fail)
    assert kept is not None
    return kept


def _fail(why: str) -> None:
    raise AssertionError(why)


def test_what_is_kept_is_remembered(tmp_path: Path) -> None:
    """Under the same name of the process, and for each store apart."""
    one = opened(tmp_path)
    assert one.remembered == {}
    one.keep({"000": Remembered("a", 7)})
    one.close()

    again = opened(tmp_path)
    assert again.remembered == {"000": Remembered("a", 7)}
    assert again.process == one.process
    again.close()
    other = opened(tmp_path, "other")
    assert other.remembered == {}
    other.keep({"000": Remembered("b", 1)})
    other.close()

    back = opened(tmp_path)
    assert back.remembered == {"000": Remembered("a", 7)}
    back.close()


def test_only_the_last_stores_are_kept(tmp_path: Path) -> None:
    """The file does not grow with each store that was ever tried."""
    for number in range(25):
        kept = opened(tmp_path, f"store {number}")
        kept.keep({"000": Remembered("a", number)})
        kept.close()

    assert (tmp_path / FILE).read_text().count('"store ') == 20


def test_one_gateway_has_the_file(tmp_path: Path) -> None:
    """Two that left marks under one name would take each other's for a loss."""
    told: list[str] = []
    first = opened(tmp_path)

    assert KeptMarks.open(tmp_path, "one", told.append) is None
    assert "another gateway keeps its own" in told[0]
    first.close()
    opened(tmp_path).close()


def test_a_directory_that_is_missing_is_made(tmp_path: Path) -> None:
    """As for the bundled store: with its default, too, a loss is noticed. Nobody else looks into it."""
    kept = opened(tmp_path / "new" / "data")
    kept.keep({"000": Remembered("a", 7)})
    kept.close()

    assert opened(tmp_path / "new" / "data").remembered == {"000": Remembered("a", 7)}
    assert stat.S_IMODE((tmp_path / "new" / "data").stat().st_mode) == 0o700


def test_without_a_directory_nothing_is_kept(tmp_path: Path) -> None:
    """A gateway with a store elsewhere may have no disk."""
    (tmp_path / "file").touch()
    told: list[str] = []

    assert KeptMarks.open(tmp_path / "file" / "data", "one", told.append) is None
    assert "cannot be used" in told[0] and "--data-dir" in told[0]


def test_of_a_store_that_may_forget_nothing_is_kept_unasked(tmp_path: Path) -> None:
    """It comes back empty each time, and nobody wants to be told; in a directory that is there marks are kept."""
    told: list[str] = []

    assert KeptMarks.open(tmp_path / "new", "one", told.append, make=False) is None
    assert not (tmp_path / "new").exists() and "cannot be used" in told[0]
    assert KeptMarks.open(tmp_path, "one", _fail, make=False) is not None


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"process": "p"}', b'{"process": "p", "stores": {"one": {"000": ["a"]}}}', b"\xff"],
    ids=["empty", "half", "a list", "no stores", "no mark", "no text"],
)
def test_a_file_that_cannot_be_read_is_begun_anew(tmp_path: Path, content: bytes) -> None:
    """The operator is told: until then nobody would miss what the store lost."""
    (tmp_path / FILE).write_bytes(content)
    told: list[str] = []
    kept = KeptMarks.open(tmp_path, "one", told.append)

    assert kept is not None
    assert kept.remembered == {}
    assert "cannot be read" in told[0]
    kept.keep({"000": Remembered("a", 1)})
    kept.close()
    assert opened(tmp_path).remembered == {"000": Remembered("a", 1)}


def test_a_disk_that_is_full_leaves_the_former_file(tmp_path: Path) -> None:
    """Half a file is worse than one that is ten seconds old."""
    kept = opened(tmp_path)
    kept.keep({"000": Remembered("a", 1)})
    (tmp_path / "store-marks.new").mkdir()

    with pytest.raises(OSError, match="directory"):
        kept.keep({"000": Remembered("a", 2)})
    kept.close()
    assert opened(tmp_path).remembered == {"000": Remembered("a", 1)}
    assert stat.S_ISREG((tmp_path / FILE).stat().st_mode)


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("redis://user:secret@store:6379/0", "redis://store:6379/0?db=0"),
        ("rediss://store:6379?db=3&password=secret", "rediss://store:6379?db=3"),
        ("unix:///run/s?db=1", "unix:///run/s?db=1"),
        ("redis+cluster://u:p@a:1,b:2", "redis+cluster://a:1,b:2?db=0"),
    ],
    ids=["user", "query", "socket", "cluster"],
)
def test_a_name_has_no_secret(url: str, name: str) -> None:
    """It is written to a file."""
    assert name_of(url) == name
