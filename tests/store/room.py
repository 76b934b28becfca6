"""A disk that is full for one server only, without a file system of one's own."""

import contextlib
import resource


def leave_room(pid: int, size: int | None) -> None:
    """From now on the process cannot make a file larger than that (setrlimit(2), RLIMIT_FSIZE); None ends it.

    A write beyond it is cut short, and then fails with EFBIG. Python ignores SIGXFSZ, which would end the process, and
    so does what it starts without restoring signals. One that has ended has no need of room.
    """
    with contextlib.suppress(ProcessLookupError):
        soft = resource.RLIM_INFINITY if size is None else size
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (soft, resource.RLIM_INFINITY))
