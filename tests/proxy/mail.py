"""A mail API in front of which the tests of intents put a gateway: epochs by header, keys required."""

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream
from tests.stack import Stack, stack

POLICY = """
upstream: mail
url: http://localhost:{port}
mount: {{path: /mail}}
timeouts: {{connect: 1s, total: 5s, late: 5s}}
replay_headers: [X-Mail-Id]
writes:
  - name: send
    match: PUT,POST,PATCH,DELETE /mail/{{box}}
    resource: mail/{{path.box}}
    authority: header
    intent: {{mode: required}}
"""


@contextlib.asynccontextmanager
async def mail(
    store_url: str, directory: Path, *, upstream: RecordingUpstream | None = None, **changes: str
) -> AsyncIterator[Stack]:
    """The stack; each of `changes` replaces a field of the policy, by the text of its line."""
    policy = POLICY
    for name, line in changes.items():
        lines = policy.splitlines()
        at = next(i for i, each in enumerate(lines) if each.strip().startswith(f"{name}:"))
        indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
        lines[at] = f"{indent}{name}: {line}"
        policy = "\n".join(lines)
    async with stack(store_url, directory, policy, upstream) as gate:
        yield gate


def proof(epoch: int = 42, holder: str = "a") -> tuple[str, str]:
    return f"Fencing-Token: {epoch}", f"Fencing-Holder: {holder}"


async def send(
    gate: Stack,
    key: str | None = "k-1",
    *fields: str,
    body: bytes = b'{"to": "x"}',
    epoch: int = 42,
    holder: str = "a",
    method: str = "POST",
    target: str = "/mail/out",
) -> RawAnswer:
    """One mail: JSON, unless `fields` name another type."""
    kind = (
        () if any(field.lower().startswith("content-type") for field in fields) else ("Content-Type: application/json",)
    )
    named = () if key is None else (f"Idempotency-Key: {key}",)
    return await ask(gate.port, method, target, *proof(epoch, holder), *named, *kind, *fields, body=body)
