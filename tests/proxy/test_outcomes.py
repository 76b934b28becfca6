"""What becomes of an intent's key: evidence of the wire decides, and nothing else."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.proxy.mail import mail, proof, send
from tests.raw import RawClient, ask, request
from tests.recording import OK, RecordingUpstream, Seen, answering
from tests.stack import Stack
from tests.until import until

BROKEN = {
    "closed": answering(b"", close=True),
    "reset": answering(b"", reset=True),
    "half a head": answering(b"HTTP/1.1 200 OK\r\nContent-", close=True),
    "short of its length": answering(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab", close=True),
    "short of its chunks": answering(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", close=True),
    "head too large": answering(b"HTTP/1.1 200 OK\r\nX: " + b"x" * (65 << 10) + b"\r\n\r\n", close=True),
    "no HTTP": answering(b"hello\r\n\r\n", close=True),
    "500": answering(b"HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"),
    "two lengths": answering(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok1"),
    "a length and chunks": answering(
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    ),
    "a switch that nobody asked for": answering(b"HTTP/1.1 101 X\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
    "408": answering(b"HTTP/1.1 408 Late\r\nContent-Length: 0\r\n\r\n"),
}


async def state_of(gate: Stack, id: str) -> str:
    answer = await ask(gate.port, "GET", f"/-/fence/intents/{id}")
    assert answer.decision == "shown", answer.body
    return str(json.loads(answer.body)["state"])


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
@pytest.mark.parametrize("reused", [False, True], ids=["fresh", "reused"])
@pytest.mark.parametrize("size", [2, 0, 200_000], ids=["small", "empty", "streamed"])
async def test_an_upstream_that_executes_and_closes_leaves_the_intent_unknown(
    store_url: str, tmp_path: Path, method: str, reused: bool, size: int
) -> None:
    """Executed once; the first caller is told so, and the same intent again does not run it."""
    async with mail(store_url, tmp_path) as gate:
        if reused:
            await send(gate, "before")
        before = len(gate.upstream.seen)
        gate.upstream.answer = BROKEN["closed"]
        body = b"x" * size
        first = await send(gate, "k", "Content-Type: a/b", method=method, body=body)
        second = await send(gate, "k", "Content-Type: a/b", method=method, body=body)

        assert (first.status, first.decision) == (504, "outcome-unknown")
        assert (second.status, second.decision, second.problem["action"]) == (409, "outcome-unknown", "wait")
        assert first.problem["intent"] == second.problem["intent"]
        assert len(gate.upstream.seen) - before == 1


@pytest.mark.parametrize("name", BROKEN)
async def test_what_is_no_whole_answer_is_unknown_and_never_replayed(store_url: str, tmp_path: Path, name: str) -> None:
    """The key is held; the record can be looked at."""
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = BROKEN[name]
        first = await send(gate)
        await until(lambda: len(gate.upstream.seen) == 1)
        gate.upstream.answer = answering(OK)
        second = await send(gate)

        assert first.value("Fencing-Outcome") == "unknown" or not first.whole or first.decision == "outcome-unknown"
        assert (second.status, second.decision) == (409, "outcome-unknown")
        assert await state_of(gate, second.problem["intent"]["id"]) == "unknown"
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize("status", [400, 404, 409, 412, 422, 429])
async def test_a_refusal_of_the_upstream_frees_the_key(store_url: str, tmp_path: Path, status: int) -> None:
    """The owner of the data says that it did not happen: the retry is a new attempt, with another body if need be."""
    async with mail(store_url, tmp_path) as gate:
        gate.upstream.answer = answering(b"HTTP/1.1 %d No\r\nContent-Length: 2\r\n\r\nno" % status)
        first = await send(gate)
        gate.upstream.answer = answering(OK)
        second = await send(gate, body=b'{"to": "someone else"}')

        assert (first.status, first.body, first.value("Fencing-Outcome")) == (status, b"no", "not_applied")
        assert (second.decision, second.value("Fencing-Outcome")) == ("forwarded", "applied")
        assert len(gate.upstream.seen) == 2


@pytest.mark.parametrize("url", ["http://localhost:9", "http://nowhere.invalid", "https://localhost:{port}"])
async def test_what_was_never_sent_frees_the_key(store_url: str, tmp_path: Path, url: str) -> None:
    """A refused connection, a name that is none, a TLS handshake that fails: the retry is a new attempt."""
    async with mail(store_url, tmp_path, url=url) as gate:
        for answer in (await send(gate), await send(gate)):
            assert (answer.status, answer.decision) == (502, "upstream-unreachable")
            assert answer.problem["action"] == "retry"
        assert gate.upstream.seen == []


async def test_a_policy_says_what_a_status_proves(store_url: str, tmp_path: Path) -> None:
    """An upstream whose 409 means "it is there already" has `outcomes` that say so."""
    outcomes = "http://localhost:{port}\noutcomes: {{not_applied: [400], unknown: [5xx]}}"
    async with mail(store_url, tmp_path, url=outcomes) as gate:
        gate.upstream.answer = answering(b"HTTP/1.1 409 There\r\nContent-Length: 0\r\n\r\n")
        await send(gate)
        second = await send(gate)

        assert (second.status, second.decision) == (409, "replayed")


async def test_an_api_is_not_asked_to_act_after_its_answer(store_url: str, tmp_path: Path) -> None:
    """What it does of a write is over when it answers, so that no older write lands behind a newer epoch's."""
    done: list[bytes] = []
    asked: list[bytes] = []

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        (asked if "respond-async" in ",".join(seen.values("prefer")) else done).append(seen.body)
        writer.write(b"HTTP/1.1 204 Done\r\n\r\n")

    async with mail(store_url, tmp_path, upstream=RecordingUpstream(answer)) as gate:
        await send(gate, "k-1", "Prefer: respond-async, return=minimal", body=b'"old"', epoch=42)
        await send(gate, "k-2", "PREFER: wait=5", "prefer: Respond-Async", body=b'"new"', epoch=43)
        await ask(gate.port, "GET", "/mail/out", "Prefer: respond-async")

        assert (done, asked) == ([b'"old"', b'"new"'], [b""])
        assert [seen.values("prefer") for seen in gate.upstream.seen] == [
            ["return=minimal"],
            ["wait=5"],
            ["respond-async"],
        ]


async def test_an_answer_before_the_work_may_prove_nothing(store_url: str, tmp_path: Path) -> None:
    """Where an API takes a write as a job without being asked: its policy holds the key until somebody knows."""
    outcomes = "http://localhost:{port}\noutcomes: {{unknown: [202, 406, 408, 499, 5xx]}}"
    async with mail(store_url, tmp_path, url=outcomes) as gate:
        gate.upstream.answer = answering(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
        first, second = await send(gate), await send(gate)

        assert (first.status, first.value("Fencing-Outcome")) == (202, "unknown")
        assert (second.status, second.decision, len(gate.upstream.seen)) == (409, "outcome-unknown", 1)


async def test_a_caller_that_leaves_changes_nothing(store_url: str, tmp_path: Path) -> None:
    """The write goes on, its answer is kept, and the same key gets it."""
    release = asyncio.Event()

    async def slow(_: Seen, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(OK)

    async with mail(store_url, tmp_path, upstream=RecordingUpstream(answer=slow)) as gate:
        async with RawClient(gate.port) as client:
            fields = (*proof(), "Idempotency-Key: k-1", "Content-Type: application/json")
            await client.send(request("POST", "/mail/out", *fields, body=b'{"to": "x"}'))
            await until(lambda: len(gate.upstream.seen) == 1)
        release.set()

        async def is_replayed() -> bool:
            return (await send(gate)).decision == "replayed"

        await until(is_replayed)
        assert len(gate.upstream.seen) == 1


@pytest.mark.parametrize("status", [200, 422])
async def test_an_answer_that_comes_late_is_recorded(store_url: str, tmp_path: Path, status: int) -> None:
    """Whoever repeats the intent in the meantime waits; then it gets the answer, or runs it again if it was refused."""
    release = asyncio.Event()
    late = b"HTTP/1.1 %d Late\r\nContent-Length: 4\r\n\r\nlate" % status

    async def slow(_: Seen, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(late)

    times = "{{connect: 100ms, total: 300ms, late: 20s}}"
    async with mail(store_url, tmp_path, upstream=RecordingUpstream(answer=slow), timeouts=times) as gate:
        first, between = await send(gate), await send(gate)
        release.set()
        await until(lambda: _is_ended(gate, first.problem["intent"]["id"]))
        last = await send(gate)

        assert (first.status, first.decision) == (504, "outcome-unknown")
        assert (between.status, between.decision) == (409, "outcome-unknown")
        assert (last.status, last.body) == (status, b"late")
        assert last.decision == ("replayed" if status == 200 else "forwarded")
        assert len(gate.upstream.seen) == (1 if status == 200 else 2)


async def _is_ended(gate: Stack, id: str) -> bool:
    return await state_of(gate, id) != "unknown"


async def test_an_upstream_that_takes_keys_is_asked_again_under_the_same_one(store_url: str, tmp_path: Path) -> None:
    """`on_unknown: retry`: the forwarded key is stable across attempts and holders, and not the agent's own."""
    native = "http://localhost:{port}\ncapabilities: {{idempotency_key: Idempotency-Key}}"
    async with mail(store_url, tmp_path, url=native, intent="{{mode: required, on_unknown: retry}}") as gate:
        gate.upstream.answer = BROKEN["closed"]
        first = await send(gate, epoch=41, holder="a")
        refused = b"HTTP/1.1 409 Busy\r\nContent-Length: 0\r\n\r\n"
        gate.upstream.answer = answering(refused)
        second = await send(gate, epoch=41, holder="a")
        gate.upstream.answer = answering(OK)
        third = await send(gate, epoch=42, holder="b")
        fourth = await send(gate, epoch=42, holder="b")

        assert (first.status, first.decision) == (504, "outcome-unknown")
        assert "the same key" in str(first.problem["detail"])
        assert (second.status, second.value("Fencing-Outcome")) == (409, "unknown"), "a refusal proves nothing now"
        assert (third.status, third.value("Fencing-Outcome")) == (200, "applied")
        assert fourth.decision == "replayed"
        keys = [seen.values("Idempotency-Key") for seen in gate.upstream.seen]
        assert len(keys) == 3 and keys[0] == keys[1] == keys[2] != ["k-1"]
        assert len(keys[0]) == 1


async def test_another_intent_is_forwarded_under_another_key(store_url: str, tmp_path: Path) -> None:
    """All tenants share one credential at the upstream: neither keys nor resources may meet there."""
    native = "http://localhost:{port}\ncapabilities: {{idempotency_key: X-Key}}"
    async with mail(store_url, tmp_path, url=native) as gate:
        await send(gate, "k-1", target="/mail/out")
        await send(gate, "k-1", target="/mail/in")
        await send(gate, "k-2", target="/mail/out")

        keys = {seen.values("X-Key")[0] for seen in gate.upstream.seen}
        assert len(keys) == 3


async def test_a_write_without_a_key_that_ends_unknown_can_be_looked_at(store_url: str, tmp_path: Path) -> None:
    """Its id was made by the gateway."""
    async with mail(store_url, tmp_path, intent="{{mode: optional}}") as gate:
        gate.upstream.answer = BROKEN["closed"]
        answer = await send(gate, None)

        assert answer.decision == "outcome-unknown"
        assert await state_of(gate, answer.problem["intent"]["id"]) == "unknown"


@pytest.mark.parametrize("id", ["000", "x", "fff" + "a" * 22, "000" + "a" * 100, "00%0a", "zzz" + "a" * 22])
async def test_an_intent_that_nobody_knows_is_a_404(store_url: str, tmp_path: Path, id: str) -> None:
    """Whatever its id looks like."""
    async with mail(store_url, tmp_path) as gate:
        answer = await ask(gate.port, "GET", f"/-/fence/intents/{id}")

        assert answer.status in (400, 404)
        assert answer.decision in ("no-such-intent", "ambiguous-target")


async def test_an_applied_intent_is_shown_with_its_answer(store_url: str, tmp_path: Path) -> None:
    """To agents of its tenant, by the id that a problem named."""
    async with mail(store_url, tmp_path) as gate:
        await send(gate, epoch=41)
        stale = await send(gate, epoch=43, body=b'{"another": 1}')
        repeated = await send(gate, epoch=41)
        id = repeated.problem["intent"]["id"]
        shown = json.loads((await ask(gate.port, "GET", f"/-/fence/intents/{id}")).body)

        assert stale.decision == "intent-mismatch"
        assert shown | {"created_at": "", "updated_at": ""} == {
            "id": id,
            "state": "applied",
            "rule": "send",
            "resource": "mail/out",
            "epoch": "41",
            "attempts": 1,
            "created_at": "",
            "updated_at": "",
            "response": {"status": 200, "headers": [["Content-Type", "application/json"]], "body": '{"ok":true}'},
        }
