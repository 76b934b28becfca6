"""An attempt whose answer comes late, while the next one under the API's own keys is under way."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gateway.store.keys import intent_record
from tests.proxy.reloading import reloading
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen
from tests.until import until

POLICY = """
upstream: pay
url: http://localhost:PORT
mount: {path: /pay}
timeouts: {connect: 400ms, total: TOTAL, late: 60s}
capabilities: {idempotency_key: {header: Idempotency-Key, retain: 24h}}
writes:
  - name: pay
    match: POST /pay/{account}
    resource: account/{path.account}
    authority: header
    intent: {mode: required, on_unknown: retry}
"""


def answer_of(status: int, attempt: int) -> bytes:
    body = b"attempt %d" % attempt
    return b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)


@dataclass
class Api:
    """Answers each attempt when it is told to, and with what; nothing stands for a connection that is closed."""

    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def hold(self, _: Seen, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        await asyncio.Event().wait()

    async def say(self, attempt: int, status: int) -> None:
        writer = self.writers[attempt - 1]
        if status:
            writer.write(answer_of(status, attempt))
            await writer.drain()
        else:
            writer.transport.abort()


async def pay(port: int, epoch: int = 5, holder: str = "a") -> RawAnswer:
    proof = (f"Fencing-Token: {epoch}", f"Fencing-Holder: {holder}", "Idempotency-Key: k")
    return await ask(port, "POST", "/pay/7", *proof, body=b"{}")


# The late answer to the first, the answer to the second, and then: what the second is told, and what a repeat is.
TOLD = {
    "refused, then done": (400, 200, (200, "forwarded"), ("replayed", b"attempt 2")),
    "done, then refused": (200, 400, (400, "forwarded"), ("replayed", b"attempt 1")),
    "done, then cut": (200, 0, (504, "outcome-unknown"), ("replayed", b"attempt 1")),
}


@pytest.mark.parametrize("successor", [False, True], ids=["by its holder", "by a successor"])
@pytest.mark.parametrize(("late", "second", "answered", "repeat"), TOLD.values(), ids=TOLD)
async def test_what_two_attempts_say_together_is_what_holds(
    store_url: str,
    raw: Any,
    tmp_path: Path,
    late: int,
    second: int,
    answered: tuple[int, str],
    repeat: tuple[str, bytes],
    successor: bool,
) -> None:
    """Whoever repeats it meanwhile waits; nothing is sent a third time."""
    api = Api()
    who = (6, "b") if successor else (5, "a")
    async with RecordingUpstream(api.hold) as upstream:
        policy = POLICY.replace("PORT", str(upstream.port))
        async with reloading(store_url, tmp_path, policy.replace("TOTAL", "500ms")) as gate:
            first = await pay(gate.port)
            gate.policy(policy.replace("TOTAL", "20s"))
            again = asyncio.ensure_future(pay(gate.port, *who))
            await upstream.until(lambda: len(upstream.seen) == 2)
            id = str(first.problem["intent"]["id"])
            before = raw.dump(intent_record(id))
            await api.say(1, late)
            if late == 200:
                await until(lambda: bool(raw.dump(intent_record(id)) != before))
            between = await pay(gate.port, *who)
            await api.say(2, second)
            told = await again
            after = await pay(gate.port, *who)

            assert (first.decision, between.decision) == ("outcome-unknown", "intent-in-progress")
            assert (told.status, told.decision) == answered
            assert (after.decision, after.body) == repeat
            assert len({tuple(seen.values("Idempotency-Key")) for seen in upstream.seen}) == 1
            assert len(upstream.seen) == 2
