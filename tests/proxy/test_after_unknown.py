"""`fence.after_unknown: hold`, through the whole gateway: a write of which nobody knows holds back all others."""

import asyncio
from pathlib import Path

import pytest

from gateway.store.intents import Resolution, Resolve, resolve
from gateway.store.views.intent_views import intents
from tests.proxy.mail import POLICY, send
from tests.raw import RawAnswer, ask
from tests.recording import RecordingUpstream, Seen, answering
from tests.stack import Stack, stack
from tests.store.fences import opened
from tests.until import until

HOLDS = POLICY + "    fence: {{after_unknown: hold}}\n"
ANSWERED = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
BESIDE = """
  - name: note
    match: PUT /mail/{{box}}/note
    resource: mail/{{path.box}}
    authority: header
"""


def broken() -> RecordingUpstream:
    """It takes a request and closes without an answer."""
    return RecordingUpstream(answering(b"", close=True))


async def resolved(store_url: str, outcome: Resolution) -> None:
    async with opened(store_url) as store:
        [record] = (await intents(store, "unknown", None)).items
        await resolve(store, record, Resolve(outcome, "operator", "looked", "me"))


async def note(gate: Stack, epoch: int = 42) -> RawAnswer:
    proof = (f"Fencing-Token: {epoch}", "Fencing-Holder: a")
    return await ask(gate.port, "PUT", "/mail/out/note", *proof, body=b"{}")


@pytest.mark.parametrize("outcome", ["applied", "not_applied"])
async def test_an_unknown_write_holds_its_resource(store_url: str, tmp_path: Path, outcome: Resolution) -> None:
    """No other write of it is admitted, under any epoch or rule, until it is resolved; other resources go on."""
    async with stack(store_url, tmp_path, HOLDS + BESIDE, broken()) as gate:
        first = await send(gate, "k-1")
        gate.upstream.answer = ANSWERED
        held = [await send(gate, "k-2"), await send(gate, "k-3", epoch=43, holder="b"), await note(gate, 43)]
        elsewhere = await send(gate, "k-2", target="/mail/in")
        repeated = await send(gate, "k-1", epoch=43, holder="b")

        assert [(answer.status, answer.decision) for answer in held[:2]] == [(409, "outcome-unknown")] * 2
        assert held[2].decision == "holder-mismatch"
        assert held[0].problem["intent"] == first.problem["intent"]
        assert held[0].problem["action"] == "wait"
        assert (repeated.status, repeated.decision) == (409, "outcome-unknown")
        assert elsewhere.status == 200

        await resolved(store_url, outcome)
        assert (await send(gate, "k-2", epoch=43, holder="b")).status == 200
        assert len(gate.upstream.seen) == 3


async def test_another_rule_of_the_resource_is_held_too(store_url: str, tmp_path: Path) -> None:
    """It is the resource that nobody knows the state of. An unknown write of a rule that goes on holds nothing."""
    async with stack(store_url, tmp_path, HOLDS + BESIDE, broken()) as gate:
        assert (await note(gate)).decision == "outcome-unknown"
        assert (await send(gate, "k-1")).status == 504, "sent, and unknown in its turn"
        held = await note(gate)

        assert (held.status, held.decision) == (409, "outcome-unknown")
        assert len(gate.upstream.seen) == 2


async def test_a_write_without_a_key_holds_as_well(store_url: str, tmp_path: Path) -> None:
    """It has a record as soon as it is unknown, and an operator resolves it like any other."""
    policy = HOLDS.replace("intent: {{mode: required}}", "intent: {{mode: 'off'}}")
    async with stack(store_url, tmp_path, policy, broken()) as gate:
        first, held = await send(gate, None), await send(gate, None)

        assert (first.status, held.status, held.decision) == (504, 409, "outcome-unknown")
        assert held.problem["intent"] == first.problem["intent"]
        await resolved(store_url, "applied")
        gate.upstream.answer = ANSWERED
        assert (await send(gate, None)).status == 200


async def test_a_further_attempt_resolves_it(store_url: str, tmp_path: Path) -> None:
    """Where the upstream itself refuses the second, whoever repeats it is let through, and the others after that."""
    policy = HOLDS.replace("replay_headers", "capabilities: {{idempotency_key: Idempotency-Key}}\nreplay_headers")
    policy = policy.replace("mode: required", "mode: required, on_unknown: retry")
    async with stack(store_url, tmp_path, policy, broken()) as gate:
        await send(gate, "k-1")
        gate.upstream.answer = ANSWERED
        held = await send(gate, "k-2")
        again = await send(gate, "k-1")
        after = await send(gate, "k-2")

        assert [answer.status for answer in (held, again, after)] == [409, 200, 200]


async def test_a_further_attempt_keeps_its_place(store_url: str, tmp_path: Path) -> None:
    """Once a later one was let through, it would come behind that: it is not sent."""
    policy = POLICY.replace("replay_headers", "capabilities: {{idempotency_key: Idempotency-Key}}\nreplay_headers")
    policy = policy.replace("mode: required", "mode: required, on_unknown: retry")
    async with stack(store_url, tmp_path, policy + "    fence: {{sequence: increasing}}\n", broken()) as gate:
        await send(gate, "k-3", "Fencing-Sequence: 3")
        gate.upstream.answer = ANSWERED
        told = [await send(gate, f"k-{at}", f"Fencing-Sequence: {at}") for at in (4, 3, 5)]

        assert [answer.decision for answer in told] == ["forwarded", "out-of-sequence", "forwarded"]
        assert [seen.values("Idempotency-Key") for seen in gate.upstream.seen].count([]) == 0
        assert len(gate.upstream.seen) == 3


async def test_a_further_attempt_of_one_of_two_is_held_by_the_other(store_url: str, tmp_path: Path) -> None:
    """Which may have happened too: each other unknown write has to be resolved before one is sent again."""
    policy = HOLDS.replace("replay_headers", "capabilities: {{idempotency_key: Idempotency-Key}}\nreplay_headers")
    policy = policy.replace("mode: required", "mode: required, on_unknown: retry")
    policy = policy.replace("after_unknown: hold", "after_unknown: hold, concurrency: parallel")
    both_are_here = asyncio.Event()

    async def answer(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        await both_are_here.wait()
        writer.close()

    async with stack(store_url, tmp_path, policy, RecordingUpstream(answer)) as gate:
        sent = asyncio.gather(send(gate, "k-1"), send(gate, "k-2"))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 2)
        both_are_here.set()
        first, second = await sent
        gate.upstream.answer = ANSWERED
        held = [await send(gate, "k-1"), await send(gate, "k-2")]

        assert [answer.status for answer in (first, second, *held)] == [504, 504, 409, 409]
        assert [one.problem["intent"] for one in held] == [second.problem["intent"], first.problem["intent"]]
        async with opened(store_url) as store:
            other = next(one for one in (await intents(store, "unknown", None)).items if one.key == "k-2")
            await resolve(store, other, Resolve("not_applied", "operator", "looked", "me"))
        again = [await send(gate, "k-1"), await send(gate, "k-2")]
        assert [answer.status for answer in again] == [200, 200]


async def test_what_is_queued_waits_until_it_is_resolved(store_url: str, tmp_path: Path) -> None:
    """It is taken, and delivered once nothing holds its resource."""
    policy = HOLDS + BESIDE + "    intent: {{mode: required}}\n    delivery: queued\n"
    async with stack(store_url, tmp_path, policy, broken()) as gate:
        await send(gate, "k-1")
        gate.upstream.answer = ANSWERED
        proof = ("Fencing-Token: 42", "Fencing-Holder: a", "Idempotency-Key: n")
        queued = await ask(gate.port, "PUT", "/mail/out/note", *proof, body=b"{}")
        held = await send(gate, "k-2")

        assert (queued.status, held.status) == (202, 409)
        await resolved(store_url, "not_applied")
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 2)


async def test_late_evidence_ends_it(store_url: str, tmp_path: Path) -> None:
    """The upstream's own answer, after its caller was told that nobody knows."""
    told = asyncio.Event()

    async def late(_: Seen, writer: asyncio.StreamWriter) -> None:
        await told.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    async def is_over() -> bool:
        return (await send(gate, "k-2")).decision != "outcome-unknown"

    policy = HOLDS.replace("connect: 1s, total: 5s", "connect: 500ms, total: 500ms")
    async with stack(store_url, tmp_path, policy, RecordingUpstream(late)) as gate:
        first, held = await send(gate, "k-1"), await send(gate, "k-2")
        told.set()

        assert (first.status, held.status) == (504, 409)
        await until(is_over, within_s=10)
        assert (await send(gate, "k-1")).decision == "replayed"


async def test_an_observed_write_is_only_told(store_url: str, tmp_path: Path) -> None:
    """It passes, with what it would have been told."""
    policy = HOLDS.replace("authority: header", "authority: header\n    mode: observe")
    async with stack(store_url, tmp_path, policy, broken()) as gate:
        await send(gate, "k-1")
        gate.upstream.answer = ANSWERED
        passed = await send(gate, "k-2")

        assert (passed.status, passed.value("Fencing-Would")) == (200, "outcome-unknown")
