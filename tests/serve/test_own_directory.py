"""The directory for the files of one run."""

import fcntl
import os
import stat

import pytest

from gateway.serve.own_directory import own_directory


def test_nobody_else_tidies_it_up_while_it_is_in_use() -> None:
    """Whoever wants to asks for its lock first; it is closed to others, and gone at the end."""
    with own_directory() as directory:
        asking = os.open(directory, os.O_RDONLY)
        with pytest.raises(BlockingIOError):
            fcntl.flock(asking, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.close(asking)
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700

    assert not directory.exists()
