"""A store server of a test's own, on a unix socket: started, killed, started again."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

_LISTENS_WITHIN_S = 10.0
_LOOK_EVERY_S = 0.005


class Server:
    """One server process on `directory`. `options` are words of its command line."""

    def __init__(self, binary: str, directory: Path, *options: str) -> None:
        self._socket = directory / "s"
        self._command = [binary, "--port", "0", "--unixsocket", str(self._socket), "--dir", str(directory), *options]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self._socket}?db=0"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Returns once it listens."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL)
        gives_up_at = time.monotonic() + _LISTENS_WITHIN_S
        while not self._listens():
            assert self._process.poll() is None, "the server ended by itself"
            assert time.monotonic() < gives_up_at, "the server does not listen"
            time.sleep(_LOOK_EVERY_S)

    def kill(self) -> None:
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def pause(self) -> None:
        """It neither answers nor closes anything, as a machine that is suspended."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def _listens(self) -> bool:
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(str(self._socket)) == 0
