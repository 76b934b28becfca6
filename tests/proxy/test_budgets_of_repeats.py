"""What a budget lets through when a key is used again with another amount, and when many come at once."""

import asyncio
import json
from collections import Counter
from pathlib import Path

from tests.proxy.mail import proof
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, answering
from tests.stack import Stack, stack
from tests.until import until

POLICY = """
upstream: pay
url: http://localhost:{port}
mount: {{path: /}}
timeouts: {{connect: 1s, total: 5s, late: 100ms}}
capabilities: {{idempotency_key: Idempotency-Key}}
defaults: {{authority: header}}
writes:
  - name: again
    match: POST /again
    resource: again
    intent: {{mode: required, fingerprint: [/to], on_unknown: retry, retain: 2h}}
    budget: [{{per: resource, window: 1h, value: json:/amount, total: 100}}]
  - name: queue
    match: POST /queue
    resource: queue
    delivery: queued
    intent: {{mode: required, fingerprint: [/to]}}
    budget: [{{per: resource, window: 1h, value: json:/amount, total: 1000}}]
"""
UNKNOWN, REFUSED, DONE = (
    answering(b"HTTP/1.1 %b X\r\nContent-Length: 0\r\n\r\n" % status) for status in (b"500", b"422", b"201")
)


async def pay(gate: Stack, key: str, amount: int, target: str = "/again") -> RawAnswer:
    fields = (*proof(), f"Idempotency-Key: {key}", "Content-Type: application/json")
    return await ask(gate.port, "POST", target, *fields, body=json.dumps({"to": "x", "amount": amount}).encode())


async def test_another_amount_under_the_key_has_to_fit_as_well(store_url: str, tmp_path: Path) -> None:
    """An attempt of which nobody knows keeps what it took; what it is repeated with is paid, too, or not sent."""
    async with stack(store_url, tmp_path, POLICY, RecordingUpstream(UNKNOWN)) as gate:
        first = await pay(gate, "k-1", 1)
        gate.upstream.answer = DONE
        more = [await pay(gate, "k-1", amount) for amount in (10_000, 101)]
        half = await pay(gate, "k-2", 50)
        gate.upstream.answer = REFUSED
        refused = await pay(gate, "k-3", 5)
        gate.upstream.answer = DONE
        again = await pay(gate, "k-3", 49)
        last = await pay(gate, "k-4", 1)

        assert [answer.value("Fencing-Outcome") for answer in (first, refused)] == ["unknown", "not_applied"]
        assert [answer.decision for answer in more] == ["quota-exceeded"] * 2
        assert [answer.status for answer in (half, again, last)] == [201, 201, 429]
        assert [json.loads(seen.body)["amount"] for seen in gate.upstream.seen] == [1, 50, 5, 49]


async def test_of_many_that_are_queued_at_once_so_many_are_taken_as_fit(store_url: str, tmp_path: Path) -> None:
    """Each of those is delivered once, and no other is."""
    async with stack(store_url, tmp_path, POLICY, RecordingUpstream(DONE)) as gate:
        told = await asyncio.gather(*(pay(gate, f"k-{at}", 100, "/queue") for at in range(30)))
        await until(lambda: len(gate.upstream.seen) >= 10)
        alike = await asyncio.gather(*(pay(gate, "k-0", 100, "/queue") for _ in range(10)))

        assert Counter(answer.decision for answer in told) == {"queued": 10, "quota-exceeded": 20}
        assert {answer.decision for answer in alike} <= {"queued", "replayed", "quota-exceeded"}
        assert len(gate.upstream.seen) == 10


async def test_of_one_key_one_is_taken_and_paid(store_url: str, tmp_path: Path) -> None:
    """Thirty times at once."""
    async with stack(store_url, tmp_path, POLICY, RecordingUpstream(DONE)) as gate:
        told = await asyncio.gather(*(pay(gate, "k", 400, "/queue") for _ in range(30)))
        beside = [(await pay(gate, key, amount, "/queue")).decision for key, amount in (("a", 600), ("b", 1))]
        await until(lambda: len(gate.upstream.seen) >= 2)

        assert {answer.decision for answer in told} <= {"queued", "replayed"}
        assert beside == ["queued", "quota-exceeded"]
        assert [json.loads(seen.body)["amount"] for seen in gate.upstream.seen] == [400, 600]
