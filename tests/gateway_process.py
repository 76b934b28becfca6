"""A gateway as its users start it: `fencegate serve` in a process of its own, spoken to through its listeners."""

import asyncio
import contextlib
import json
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

from gateway import settings
from tests.raw import RawAnswer, RawClient
from tests.until import STARTS_WITHIN_S, until

POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 10s}}
writes:
  - name: write
    match: PUT /reports/{{id}}
    resource: report/{{path.id}}
"""


@dataclass
class GatewayProcess:
    """A running `fencegate serve`. Its log is JSON, one document a line."""

    process: Process
    log: Path

    def lines(self) -> list[dict[str, object]]:
        """What it has logged so far. A line that is being written is left out."""
        whole, _, _ = self.log.read_text().rpartition("\n")
        return [json.loads(line) for line in whole.splitlines()]

    def logged(self, event: str) -> list[dict[str, object]]:
        """The lines whose event begins with `event`."""
        return [line for line in self.lines() if str(line["event"]).startswith(event)]

    @property
    def proxy(self) -> int:
        return self._port("proxy")

    @property
    def admin(self) -> int:
        return self._port("admin")

    def workers(self) -> list[int]:
        """Process ids of the workers that became ready, the newest last."""
        return [int(str(line["pid"])) for line in self.logged("worker ready")]

    def tell(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def operate(self, method: str, target: str, *fields: str, body: bytes | None = None) -> RawAnswer:
        """A call of the admin listener."""
        return await call(self.admin, method, target, *fields, body=body)

    async def lease(self, resource: str) -> str:
        """A lease's token."""
        asked = json.dumps({"resource": resource, "holder": "agent-a", "ttl_s": 60}).encode()
        answer = await call(self.proxy, "POST", "/-/fence/leases", body=asked)
        assert answer.status == 201, answer.body
        return str(json.loads(answer.body)["token"])

    def _port(self, listener: str) -> int:
        (ready,) = self.logged("ready")
        return int(str(ready[listener]).rpartition(":")[2])


async def call(port: int, method: str, target: str, *fields: str, body: bytes | None = None) -> RawAnswer:
    """One request with a Host that the admin listener takes."""
    lines = [f"{method} {target} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *fields]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    async with RawClient(port) as client:
        await client.send("\r\n".join(lines).encode() + b"\r\n\r\n" + (body or b""))
        return await client.answer(method)


def write_policy(directory: Path, upstream_port: int) -> Path:
    """A directory with one policy, in front of the upstream on that port."""
    policies = directory / "policies"
    policies.mkdir(exist_ok=True)
    (policies / "reports.yaml").write_text(POLICY.format(port=upstream_port))
    return policies


@contextlib.asynccontextmanager
async def starting(directory: Path, *options: str, **variables: str) -> AsyncIterator[GatewayProcess]:
    """Start a gateway on `directory`, its ports chosen by the system; ended at once if it still runs in the end."""
    log = directory / "gateway.log"
    with log.open("wb") as stderr:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", "serve", "--policies", str(directory / "policies")),
            *("--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data-dir", str(directory / "data")),
            *("--log-format", "json", *options),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=stderr,
            env=settings.environment() | variables,
        )
    try:
        yield GatewayProcess(process, log)
    finally:
        for _ in range(2):
            # The second one ends it without waiting for what is under way.
            with contextlib.suppress(ProcessLookupError):
                process.terminate()
        await process.wait()


@contextlib.asynccontextmanager
async def running(directory: Path, *options: str, **variables: str) -> AsyncIterator[GatewayProcess]:
    """As `starting`, once it is ready."""
    async with starting(directory, *options, **variables) as gateway:
        await until(
            lambda: bool(gateway.logged("ready")) or gateway.process.returncode is not None, within_s=STARTS_WITHIN_S
        )
        assert gateway.process.returncode is None, gateway.log.read_text()
        yield gateway
