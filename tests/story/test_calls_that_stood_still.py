"""What a gateway sent to the store comes there once more, long after its caller was told what became of it."""

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.history import wire as wires
from tests.history.wire import Wire
from tests.raw import ask
from tests.recording import OK, RecordingUpstream, Seen
from tests.store.server import Server
from tests.story.gateways import Gateway, write_policies
from tests.until import until

pytestmark = pytest.mark.slow

POLICY = """
upstream: pay
url: http://127.0.0.1:{port}
mount: {{path: /pay}}
timeouts: {{total: 4s, late: 1s}}
credentials: [{{header: Authorization, value: x}}]
writes:
  - {{name: pay, match: "POST /pay/{{id}}", resource: "pay/{{path.id}}", delivery: queued, intent: {{mode: required}}}}
"""
REFUSED = b"HTTP/1.1 422 Unprocessable Content\r\nContent-Length: 0\r\n\r\n"


@pytest.mark.promise("G4", "G5")
async def test_a_write_that_was_refused_is_not_taken_anew_by_its_own_call(
    shared_store: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its caller knows that it failed, and has sent another one instead."""
    monkeypatch.setattr(wires, "_STOOD_STILL_S", (3.0, 3.5))

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(REFUSED if len(upstream.seen) == 1 else OK)

    async with RecordingUpstream(answer) as upstream, Wire(lambda: urlsplit(shared_store.url).path) as wire:
        policies = write_policies(tmp_path, "pay.yaml", POLICY.format(port=upstream.port))
        async with Gateway(policies, tmp_path / "one", f"redis://127.0.0.1:{wire.port}") as gateway:
            lease = await gateway.lease("pay/7", "A")

            async def pay(key: str) -> tuple[int, str | None]:
                fields = f"Fencing-Token: {lease['token']}", f"Idempotency-Key: {key}", "Prefer: wait=10"
                told = await ask(gateway.port, "POST", "/pay/7", *fields, body=key.encode())
                return told.status, told.value("Fencing-Outcome")

            wire.become("repeat")
            told = [await pay("first"), await pay("corrected")]
            wire.become("clear")
            await until(lambda: not wire.repeating, within_s=20)
            # Whatever was taken anew would be delivered first.
            told.append(await pay("last"))
            failed = await gateway.intents("failed")

        assert told == [(422, "not_applied"), (200, "applied"), (200, "applied")]
        assert [intent["key"] for intent in failed] == ["first"]
        assert [seen.body for seen in upstream.seen] == [b"first", b"corrected", b"last"]
