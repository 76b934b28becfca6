"""The directory for the files of one run: the policies' copy, what workers count, the page of the edition."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def own_directory() -> Iterator[Path]:
    """Private, and gone at the end. Raises OSError where none can be made."""
    with TemporaryDirectory(prefix="fencegate-") as name:
        held = os.open(name, os.O_RDONLY)
        try:
            # systemd-tmpfiles takes from /tmp what nobody has touched for ten days, and a worker that is replaced then
            # would find no policies. What is below a locked directory it leaves alone (tmpfiles.d(5)).
            fcntl.flock(held, fcntl.LOCK_EX)
            yield Path(name)
        finally:
            os.close(held)
