"""A whole gateway in the test's own process: the real listener, flow, sender and store, in front of a raw upstream."""

import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from gateway.core.address import Address
from gateway.log import Log
from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from gateway.serve.assignment import Assignment
from gateway.serve.exporting import Traces
from gateway.serve.worker import proxy
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream
from tests.served import served

POLICY = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 5s}}
writes:
  - name: write
    match: PUT,POST,PATCH,DELETE /reports/{{id}}
    resource: report/{{path.id}}
"""


ANYWHERE = Address("0.0.0.0", 0)  # said, not bound: any name may reach it


@dataclass
class Stack:
    """Where the gateway listens, and what is behind it."""

    port: int
    upstream: RecordingUpstream
    log: Path
    tokens: dict[str, str] = field(default_factory=dict)

    async def lease(self, resource: str, holder: str = "agent-a", **more: object) -> RawAnswer:
        """Take a lease and keep its token under the holder's name."""
        asked = {"resource": resource, "holder": holder, "ttl_s": 60, **more}
        answer = await ask(self.port, "POST", "/-/fence/leases", body=json.dumps(asked).encode())
        if answer.status == 201:
            self.tokens[holder] = json.loads(answer.body)["token"]
        return answer

    async def write(
        self, target: str, *fields: str, holder: str = "agent-a", method: str = "PUT", body: bytes = b"{}"
    ) -> RawAnswer:
        """One write under the holder's token."""
        return await ask(self.port, method, target, f"Fencing-Token: {self.tokens[holder]}", *fields, body=body)

    async def highest(self, resource: str) -> str | None:
        """The epoch of the live lease."""
        answer = await ask(self.port, "GET", f"/-/fence/leases?resource={resource}")
        return str(json.loads(answer.body)["epoch"]) if answer.status == 200 else None


def rules_from(directory: Path, text: str) -> RuleSet:
    directory.mkdir(exist_ok=True)
    (directory / "policy.yaml").write_text(text)
    rules = load_policies(directory, {})
    assert isinstance(rules, RuleSet), [str(finding) for finding in rules]
    return rules


@contextlib.asynccontextmanager
async def stack(
    store_url: str,
    directory: Path,
    policy: str = POLICY,
    upstream: RecordingUpstream | None = None,
    trusted_proxies: tuple[str, ...] = (),
    grace_s: float = 5.0,
    max_waiting: int | None = None,
    max_connections: int | None = None,
    durability: str = "process",
    store_timeout_s: float = 2.0,
    listen: Address = ANYWHERE,
    traces: Traces | None = None,
) -> AsyncIterator[Stack]:
    """Start everything; `{port}` in the policy becomes the upstream's. `grace_s`: what is left may end in the end.

    `listen`: what the gateway believes that it listens on. It is on loopback in any case.
    """
    log = directory / "gateway.log"
    with log.open("ab") as lines:
        async with upstream or RecordingUpstream() as recorder:
            rules = rules_from(directory / "policies", policy.format(port=recorder.port))
            assignment = Assignment(
                *(listen, "", store_url, store_timeout_s, 5.0, "json", "info"),
                trusted_proxies=trusted_proxies,
                max_waiting=max_waiting,
                max_connections=max_connections,
                durability=durability,
                traces=traces,
            )
            async with (
                proxy(assignment, lambda: rules, Log("json", descriptor=lines.fileno())) as server,
                served(server, grace_s) as port,
            ):
                yield Stack(port, recorder, log)
