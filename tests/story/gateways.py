"""Gateways as processes of their own, as an operator starts them: to be stopped, continued and killed."""

import asyncio
import contextlib
import json
import os
import re
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from gateway import settings
from tests.raw import RawAnswer, ask
from tests.until import STARTS_WITHIN_S, until

POLICY = """
upstream: reports
url: http://127.0.0.1:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: {total}}}
defaults:
  authority: header
  fence: {{drain_timeout: 20s, queue_timeout: 20s}}
writes:
  - name: write
    match: PUT,POST /reports/{{id}}
    resource: report/{{path.id}}
  - name: leased
    match: PUT,POST /reports/leased/{{id}}
    resource: leased/{{path.id}}
    authority: lease
"""


def write_policy(directory: Path, port: int, *, total: str = "5s") -> Path:
    """A policy directory whose upstream listens on `port`."""
    return write_policies(directory, "reports.yaml", POLICY.format(port=port, total=total))


def write_policies(directory: Path, name: str, text: str) -> Path:
    """A policy directory with this file."""
    policies = directory / "policies"
    policies.mkdir(exist_ok=True)
    (policies / name).write_text(text)
    return policies


@dataclass
class Gateway:
    """`fencegate serve` on free ports: on the store at `store`, or with an embedded one in its directory."""

    policies: Path
    directory: Path
    store: str | None = None
    options: tuple[str, ...] = ()
    port: int = 0
    admin: int = 0
    # Another copy of the package than the one under test, and what its environment has besides.
    tree: Path | None = None
    variables: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.end()

    async def start(self) -> None:
        """Start, and wait until it says that it is ready."""
        self.directory.mkdir(exist_ok=True)
        self._log = self.directory / "log"
        self._before = len(self.lines())
        # With a store that outlives it, nothing that it has on a disk does: what it would know then is shown elsewhere.
        where = ["--store", self.store, "--data-dir", os.devnull]
        if not self.store:
            where = ["--data-dir", str(self.directory / "data")]
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "gateway", "serve", "--policies", str(self.policies), *where),
                *("--listen", f"127.0.0.1:{self.port}", "--admin", f"127.0.0.1:{self.admin}"),
                *("--log-format", "json", "--allow-unsafe-store"),
                *self.options,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.tree,
                env=self._environment(),
            )
        try:
            await until(
                lambda: self._process.returncode is not None or "ready" in self.events(), within_s=STARTS_WITHIN_S
            )
        except asyncio.CancelledError:
            # Nobody ends what has not started.
            self._process.kill()
            raise
        assert self._process.returncode is None, self._log.read_text()
        ready = next(line for line in self._new_lines() if line["event"] == "ready")
        self.port = int(str(ready["proxy"]).rpartition(":")[2])
        self.admin = int(str(ready["admin"]).rpartition(":")[2])

    def _environment(self) -> dict[str, str]:
        # The parent finds the copy in its working directory, the workers by the path.
        path = {} if self.tree is None else {"PYTHONPATH": str(self.tree)}
        return settings.environment() | path | self.variables

    async def end(self) -> None:
        """Stop it as an operator does; whatever was stopped is continued first."""
        if self._process.returncode is None:
            self.go_on()
            self._process.terminate()
            try:
                await asyncio.wait_for(self._process.wait(), 20)
            except TimeoutError:
                await self.kill()

    async def kill(self) -> None:
        """kill -9 of the parent; the workers and the embedded store end with it."""
        pids = self.worker_pids()
        self._process.kill()
        await self._process.wait()
        await until(lambda: not any(_lives(pid) for pid in pids))

    @property
    def pid(self) -> int:
        """The parent's."""
        return self._process.pid

    def pause(self) -> None:
        """SIGSTOP to every worker: nothing of them runs, the kernel goes on taking what is sent to them."""
        for pid in self.worker_pids():
            os.kill(pid, signal.SIGSTOP)

    def go_on(self) -> None:
        for pid in self.worker_pids():
            os.kill(pid, signal.SIGCONT)

    def kill_workers(self) -> None:
        for pid in self.worker_pids():
            os.kill(pid, signal.SIGKILL)

    def worker_pids(self) -> list[int]:
        """The live workers, by the log's word."""
        pids = [int(str(line["pid"])) for line in self._new_lines() if line["event"] == "worker ready"]
        return [pid for pid in pids if _lives(pid)]

    def lines(self) -> list[dict[str, object]]:
        if not self._log.exists():
            return []
        # The last line may be half written.
        whole = self._log.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in whole.splitlines() if line.startswith("{")]

    def events(self) -> list[object]:
        return [line["event"] for line in self._new_lines()]

    def _new_lines(self) -> list[dict[str, object]]:
        return self.lines()[self._before :]

    # What agents and operators ask it.

    async def put(self, report: str, epoch: int, holder: str, *fields: str, body: bytes = b"{}") -> RawAnswer:
        """A write under an epoch that was granted elsewhere."""
        shown = (f"Fencing-Token: {epoch}", f"Fencing-Holder: {holder}")
        return await ask(self.port, "PUT", f"/reports/{report}", *shown, *fields, body=body)

    async def lease(self, resource: str, holder: str, **more: object) -> dict[str, object]:
        asked = {"resource": resource, "holder": holder, "ttl_s": 60, **more}
        answer = await ask(self.port, "POST", "/-/fence/leases", body=json.dumps(asked).encode())
        assert answer.status == 201, answer.body
        lease: dict[str, object] = json.loads(answer.body)
        self.tokens[holder] = str(lease["token"])
        return lease

    async def put_leased(self, report: str, token: str, body: bytes = b"{}") -> RawAnswer:
        return await ask(self.port, "PUT", f"/reports/leased/{report}", f"Fencing-Token: {token}", body=body)

    async def resource(self, resource: str) -> dict[str, object]:
        """What the operator sees of a resource."""
        answer = await ask(self.admin, "GET", f"/api/v1/resources/{resource}", host="localhost")
        shown: dict[str, object] = json.loads(answer.body) if answer.status == 200 else {}
        return shown

    async def intents(self, state: str) -> list[dict[str, object]]:
        """All intents of a state, as the operator sees them."""
        return await self._all(f"/api/v1/intents?state={state}")

    async def trail(self, resource: str) -> list[dict[str, object]]:
        """All steps of a resource's writes, by the audit trail."""
        return await self._all(f"/api/v1/audit?resource={resource}")

    async def _all(self, target: str) -> list[dict[str, object]]:
        items: list[dict[str, object]] = []
        cursor = ""
        while True:
            page = await self._page(f"{target}{cursor}")
            items += page["items"]
            if page["next"] is None:
                return items
            cursor = f"&cursor={page['next']}"

    async def _page(self, target: str) -> Any:
        """A page of a list. Untyped: JSON. Asked for again while the store is away, as the refusal says."""
        answers: list[RawAnswer] = []

        async def is_answered() -> bool:
            answers.append(await ask(self.admin, "GET", target, host="localhost"))
            return answers[-1].status != 503

        await until(is_answered)
        assert answers[-1].status == 200, answers[-1].body
        return json.loads(answers[-1].body)

    async def unknown(self) -> list[dict[str, object]]:
        """The writes whose outcome nobody knows, as the operator sees them."""
        return await self.intents("unknown")

    async def resolve(self, intent: str, outcome: str) -> RawAnswer:
        """The operator's word, by the admin API."""
        document = json.dumps({"outcome": outcome, "note": "seen in the outbox"}).encode()
        kind = "Content-Type: application/json"
        return await ask(self.admin, "POST", f"/api/v1/intents/{intent}/resolve", kind, body=document, host="localhost")

    async def counted(self, metric: str, label: str) -> Counter[str]:
        """What the gateway counts itself, by one of the metric's labels."""
        text = (await ask(self.admin, "GET", "/metrics", host="localhost")).body.decode()
        counts: Counter[str] = Counter()
        for labels, count in re.findall(rf"^{metric}\{{(.*)\}} ([0-9.e+]+)$", text, re.MULTILINE):
            counts.update({value: int(float(count)) for value in re.findall(rf'\b{label}="([^"]*)"', labels)})
        return counts

    async def command(self, *words: str) -> str:
        """A `fencegate` command against this gateway; returns what it prints."""
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "gateway", *words, "--admin", f"127.0.0.1:{self.admin}"),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, err = await process.communicate()
        assert process.returncode == 0, err.decode()
        return out.decode()

    async def until_listed(self, state: str, *keys: str) -> dict[str, str]:
        """Wait until the intents of these keys are in a state; returns their ids."""
        ids: dict[str, str] = {}

        async def all_are() -> bool:
            ids.update((str(item["key"]), str(item["id"])) for item in await self.intents(state))
            return ids.keys() >= set(keys)

        await until(all_are)
        return {key: ids[key] for key in keys}

    async def until_epoch(self, resource: str, epoch: str) -> None:
        """Wait until this is the resource's highest epoch, by the store's word."""

        async def seen() -> bool:
            return (await self.resource(resource)).get("epoch") == epoch

        await until(seen)

    async def until_in_flight(self, resource: str, count: int) -> None:
        """Wait until so many tickets of the resource are in flight, by the store's word."""

        async def so_many() -> bool:
            tickets = (await self.resource(resource)).get("tickets", [])
            assert isinstance(tickets, list)
            return len(tickets) == count

        await until(so_many)


@contextlib.asynccontextmanager
async def two_gateways(policies: Path, directory: Path, store: str) -> AsyncIterator[tuple[Gateway, Gateway]]:
    """On one store."""
    async with Gateway(policies, directory / "one", store) as one, Gateway(policies, directory / "two", store) as two:
        yield one, two


def _lives(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
