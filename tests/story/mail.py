"""Agents that have mail sent through gateways: each mail has a key, and may be repeated under it by anybody."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

from tests.raw import RawAnswer, RawClient, ask, request
from tests.story.gateways import Gateway, write_policies
from tests.until import until

POLICY = """
upstream: mail
url: http://127.0.0.1:PORT
mount: {path: /mail}
timeouts: {connect: 1s, total: TOTAL, late: LATE}
capabilities:
  query:
    request: GET /mail/by-key/{intent.key}
    applied: {status: 200}
    not_applied: {status: 404}
    not_before: 500ms
defaults: {authority: header}
writes:
  - name: send
    match: POST /mail/send/{box}
    resource: mail/{path.box}
    intent: {mode: required}
  # Admitted before its body is read: nothing of it is compared.
  - name: send-unread
    match: POST /mail/unread/{box}
    resource: mail/{path.box}
    intent: {mode: required, fingerprint: none}
  # The API is asked for what nobody knows.
  - name: send-asked
    match: POST /mail/asked/{box}
    resource: mail/{path.box}
    intent: {mode: required, on_unknown: query}
"""


def write_policy(directory: Path, port: int, *, total: str = "5s", late: str = "1s") -> Path:
    """A policy directory for a mail API that listens on `port`."""
    text = POLICY.replace("PORT", str(port)).replace("TOTAL", total).replace("LATE", late)
    return write_policies(directory, "mail.yaml", text)


def fields(key: str, epoch: int = 1) -> tuple[str, ...]:
    """What a mail's request is sent with; the holder of an epoch is named after it."""
    proof = (f"Fencing-Token: {epoch}", f"Fencing-Holder: agent-{epoch}")
    return *proof, f"Idempotency-Key: {key}", "Content-Type: application/json"


def body(key: str) -> bytes:
    return json.dumps({"key": key, "to": "x@example.com"}).encode()


async def send(gateway: Gateway, key: str, *, rule: str = "send", box: str | None = None, epoch: int = 1) -> RawAnswer:
    """Have a mail sent, from a box of its own if none is named."""
    return await ask(gateway.port, "POST", f"/mail/{rule}/{box or key}", *fields(key, epoch), body=body(key))


@contextlib.asynccontextmanager
async def withheld(gateway: Gateway, key: str) -> AsyncIterator[RawClient]:
    """A mail of which only the head was sent: the gateway admits it, and waits for its body."""
    async with RawClient(gateway.port) as client:
        head = request("POST", f"/mail/unread/{key}", *fields(key), f"Content-Length: {len(body(key))}")
        await client.send(head)
        await gateway.until_in_flight(f"mail/{key}", 1)
        yield client


@contextlib.asynccontextmanager
async def mailing(
    policies: Path, directory: Path, store: str, *names: str, options: tuple[str, ...] = ()
) -> AsyncIterator[list[Gateway]]:
    """Gateways on one store, started at the same time; whatever becomes of them, they end with the block."""
    gateways = [Gateway(policies, directory / name, store, options) for name in names]
    try:
        await asyncio.gather(*(gateway.start() for gateway in gateways))
        yield gateways
    finally:
        await asyncio.gather(*(gateway.end() for gateway in gateways))


async def insist(
    gateway: Gateway, key: str, *, rule: str = "send", box: str | None = None, epoch: int = 1
) -> RawAnswer:
    """Repeat a mail, whatever is answered, until it is known to be sent."""
    answers: list[RawAnswer] = []

    async def is_sent() -> bool:
        answers.append(await send(gateway, key, rule=rule, box=box, epoch=epoch))
        return answers[-1].status == 200

    await until(is_sent)
    return answers[-1]
