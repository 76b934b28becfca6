"""What a full disk leaves in an append-only file is cut out, and nothing else."""

from pathlib import Path

import pytest

from gateway.store.holes import cut_holes

_SET = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$4\r\n\x00\r\n\x00\r\n"
_STAMP = b"#TS:1796019979\r\n"
_GAP = bytes(50)

HOLED = {
    "none": (_SET + _STAMP + _SET, _SET + _STAMP + _SET),
    "between commands": (_SET + _GAP + _SET, _SET + _SET),
    "two": (_SET + _GAP + _SET + bytes(5000) + _STAMP + _SET, _SET + _SET + _STAMP + _SET),
    "at the beginning": (_GAP + _SET, _SET),
    "at the end": (_SET + _GAP, _SET),
    "before a torn command": (_SET + _GAP + _SET + _SET[:7], _SET + _SET + _SET[:7]),
    "before a torn value": (_SET + _GAP + _SET[:-3], _SET + _SET[:-3]),
    "before a torn count": (_SET + _GAP + _SET + b"*", _SET + _SET + b"*"),
    "an empty file": (b"", b""),
}


@pytest.mark.parametrize(("written", "mended"), HOLED.values(), ids=HOLED)
def test_gaps_are_left_out(tmp_path: Path, written: bytes, mended: bytes) -> None:
    """Zeros inside a value are its own; what the server mends itself stays as it is."""
    file = tmp_path / "appendonly.aof.2.incr.aof"
    file.write_bytes(written)
    file.chmod(0o600)

    assert cut_holes(tmp_path) == len(written) - len(mended)
    assert file.read_bytes() == mended
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [file]


BROKEN = {
    "no command": _SET + _GAP + b"garbage\r\n" + _SET,
    "a value that goes on as zeros": _SET + _GAP + _SET[:-4] + bytes(100),
    "a count that is none": _SET + _GAP + b"*three\r\n" + _SET,
}


@pytest.mark.parametrize("written", BROKEN.values(), ids=BROKEN)
def test_what_is_broken_otherwise_stays_as_it_is(tmp_path: Path, written: bytes) -> None:
    """It is for a person to look at."""
    file = tmp_path / "appendonly.aof.2.incr.aof"
    file.write_bytes(written)

    assert cut_holes(tmp_path) == 0
    assert file.read_bytes() == written


def test_only_files_that_are_appended_to_are_read(tmp_path: Path) -> None:
    """A base is a copy of the whole memory, and has no gaps."""
    (tmp_path / "appendonly.aof.1.base.rdb").write_bytes(_GAP)

    assert cut_holes(tmp_path) == 0
