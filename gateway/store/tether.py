"""A child that does not outlive its parent, even one that was killed and could tell nobody.

Run as a script it ties itself to its parent, takes the lock that says "this server lives", and becomes the server. It
stands alone: started with `python -I -S`, it imports nothing but what it needs, so that a store is up at once.

An `exec` wrapper rather than a hook between fork and exec: such a hook runs Python code in a forked copy of a process
with threads, where it can hang.
"""

import ctypes
import fcntl
import os
import signal
import sys

# <linux/prctl.h>
_PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int, with_signal: signal.Signals) -> None:
    """Let the kernel send this process `with_signal` when the process `parent` ends, however it ends.

    Linux only; elsewhere it does nothing. The kernel watches the thread that started this process, so that it has to be
    started from the parent's main thread. Exits at once if the parent is gone already.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, with_signal, 0, 0, 0)
    if os.getppid() != parent:
        sys.exit(1)


def _become_server(parent: str, lock_path: str, socket_path: str, *command: str) -> None:
    # SIGTERM: the server still brings its file to the disk.
    die_with_parent(int(parent), signal.SIGTERM)
    # What the server writes holds digests of secrets.
    os.umask(0o077)
    lock = os.open(lock_path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    os.truncate(lock, 0)
    os.write(lock, f"{os.getpid()} {socket_path}\n".encode(errors="surrogateescape"))
    # The lock belongs to the open file: the server holds it as long as it lives, and needs not know of it.
    os.set_inheritable(lock, True)
    os.execv(command[0], command)  # noqa: S606 - no shell is wanted


if __name__ == "__main__":
    _become_server(*sys.argv[1:])
