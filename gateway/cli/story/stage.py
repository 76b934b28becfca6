"""The processes of the story: started, spoken to, stopped and ended here. Each dies with the one that started it."""

import contextlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from gateway.settings import environment

# A cold start on a busy machine; a warm one takes well under a second.
_READY_S = 30.0
_POLL_S = 0.05
# The second one is that of the library, by a link.
_POLICIES = {"reports.yaml": "policy.yaml", "payments.yaml": "payments.yaml"}


class StageFailed(Exception):
    """A process of the story did not come up; the message says which and where its log is."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What is running, and where. Addresses are HOST:PORT."""

    gateway: str
    admin: str
    upstream: str
    directory: Path


class AgentProcess:
    """An agent in a process of its own."""

    def __init__(self, name: str, gateway: str) -> None:
        self.name = name
        command = [sys.executable, "-m", "gateway.cli.story.agent", name, gateway]
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # Ctrl-C at the terminal ends the story, and the story ends its agents.
            start_new_session=True,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def say(self, method: str, path: str, body: dict[str, object], key: str | None = None) -> None:
        """Hand the agent its next request, with its idempotency key if it has one; it goes on by itself."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"method": method, "path": path, "body": body, "key": key}) + "\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, object]:
        """Wait for the answer to the request that was handed over first."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise StageFailed(f"agent {self.name} ended")
        heard: dict[str, object] = json.loads(line)
        return heard

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


def get_json(address: str, path: str) -> object:
    """One GET. Raises OSError where nobody answers."""
    return _call(address, "GET", path, None)


def post_json(address: str, path: str, document: dict[str, object]) -> object:
    """One POST. Raises OSError where nobody answers."""
    return _call(address, "POST", path, document)


def _call(address: str, method: str, path: str, document: dict[str, object] | None) -> object:
    connection = http.client.HTTPConnection(address, timeout=10)
    body = None if document is None else json.dumps(document)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"})
        return json.loads(connection.getresponse().read())
    finally:
        connection.close()


@contextlib.contextmanager
def set_stage() -> Iterator[Stage]:
    """Start a sample upstream and a gateway in front of it, with an embedded store in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix="fencegate-demo-") as scratch, contextlib.ExitStack() as running:
        directory = Path(scratch)
        listening = _listen(9000)
        upstream = f"127.0.0.1:{listening.getsockname()[1]}"
        _start(running, ["gateway.cli.story.sample_upstream", str(listening.fileno())], directory, listening.fileno())
        listening.close()
        policies = directory / "policies"
        policies.mkdir()
        for name, file in _POLICIES.items():
            text = resources.files("gateway.cli.story").joinpath(file).read_text()
            (policies / name).write_text(text.replace("http://127.0.0.1:9000", f"http://{upstream}"))
        gateway, admin = (f"127.0.0.1:{_free_port(port)}" for port in (8080, 8081))
        serve = ["gateway", "serve", "--policies", str(policies), "--listen", gateway, "--admin", admin]
        process = _start(running, [*serve, "--data-dir", str(directory / "store")], directory)
        _until_ready(process, admin, directory)
        yield Stage(gateway, admin, upstream, directory)


def _start(
    running: contextlib.ExitStack, module: list[str], directory: Path, descriptor: int | None = None
) -> subprocess.Popen[bytes]:
    log = running.enter_context((directory / f"{module[0].rpartition('.')[2]}.log").open("wb"))
    process = subprocess.Popen(
        [sys.executable, "-m", *module],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        # The operator's own settings are not the story's: it must not write into a real store.
        env={name: value for name, value in environment().items() if not name.startswith("FENCEGATE_")},
        pass_fds=() if descriptor is None else (descriptor,),
        # Ctrl-C at the terminal ends the story, and the story ends these.
        start_new_session=True,
    )
    running.callback(_end, process)
    return process


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _until_ready(process: subprocess.Popen[bytes], admin: str, directory: Path) -> None:
    end = time.monotonic() + _READY_S
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError, ValueError):
            answer = get_json(admin, "/readyz")
            if isinstance(answer, dict) and answer.get("status") == "ready":
                return
        time.sleep(_POLL_S)
    log = (directory / "gateway.log").read_text(errors="replace")[-2000:]
    raise StageFailed(f"the gateway did not get ready; its log ends with:\n{log}")


def _listen(port: int) -> socket.socket:
    """Listen on this port, or on any other if somebody has it."""
    try:
        listening = socket.create_server(("127.0.0.1", port))
    except OSError:
        listening = socket.create_server(("127.0.0.1", 0))
    listening.set_inheritable(True)
    return listening


def _free_port(port: int) -> int:
    with _listen(port) as free:
        number: int = free.getsockname()[1]
        return number
