"""A balancer of `deploy` at work before gateways of a test, with nothing changed but where it listens and connects."""

import asyncio
import contextlib
import shutil
import socket
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.pages import ROOT
from tests.until import STARTS_WITHIN_S, until

# Where the files of `deploy` have the gateways, and the port on which each tells whether it is ready.
_GATEWAYS = ("10.0.0.11:8080", "10.0.0.12:8080")
_CHECKED = " check port 8081"
# Where nginx keeps bodies that it buffers, a directory of root's as it is built.
_TEMPORARY = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")


@dataclass(frozen=True, slots=True)
class Kind:
    """A program, its file in `deploy`, and how it is told to run in the foreground on another file, or to check it."""

    program: str
    file: str
    # How the file says where it listens.
    listens: str
    run: tuple[str, ...]
    check: tuple[str, ...]

    @property
    def text(self) -> str:
        return (ROOT / "deploy" / self.file).read_text()

    @property
    def binary(self) -> str | None:
        return shutil.which(self.program, path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")


HAPROXY = Kind("haproxy", "haproxy.cfg", "bind :8000", ("-db", "-f"), ("-c", "-f"))
NGINX = Kind(
    "nginx", "nginx.conf", "listen 8000", ("-e", "stderr", "-g", "daemon off;", "-c"), ("-e", "stderr", "-t", "-c")
)


def free_port() -> int:
    """One that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def write_file(kind: Kind, directory: Path, port: int, gateways: Sequence[tuple[int, int]]) -> Path:
    """The file of `deploy`, for a balancer on `port` before gateways on these ports."""
    word = kind.listens.split()[0]
    text = _moved(kind.text, kind.listens, f"{word} 127.0.0.1:{port}")
    for written, (ours, admin) in zip(_GATEWAYS, gateways, strict=True):
        if kind is HAPROXY:
            text = _moved(text, written + _CHECKED, f"{written} check port {admin}")
        text = _moved(text, written, f"127.0.0.1:{ours}")
    if kind is NGINX:
        text = _moved(text, "/run/nginx.pid", str(directory / "nginx.pid"))
        places = "".join(f"\n    {name}_temp_path {directory / name};" for name in _TEMPORARY)
        text = _moved(text, "http {", f"http {{{places}")
    file = directory / kind.file
    file.write_text(text)
    return file


@contextlib.asynccontextmanager
async def balancing(kind: Kind, directory: Path, gateways: Sequence[tuple[int, int]]) -> AsyncIterator[int]:
    """The port of one that runs."""
    assert kind.binary is not None
    port = free_port()
    file = write_file(kind, directory, port, gateways)
    with (directory / f"{kind.program}.log").open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *(kind.binary, *kind.run, str(file)), stdin=asyncio.subprocess.DEVNULL, stdout=log, stderr=log
        )
    try:
        await until(lambda: process.returncode is not None or _listens(port), within_s=STARTS_WITHIN_S)
        assert process.returncode is None, (directory / f"{kind.program}.log").read_text()
        yield port
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _moved(text: str, written: str, wanted: str) -> str:
    assert written in text, written
    return text.replace(written, wanted)
