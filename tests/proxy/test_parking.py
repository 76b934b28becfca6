"""Writes that are sent later, through the whole gateway: what their callers are told, and what the upstream gets."""

import asyncio
import json
import socket
from pathlib import Path
from typing import Any, Literal

import pytest

from gateway.core.decision import Refused
from gateway.core.record import IntentRecord
from gateway.core.write import ResourceKey
from gateway.store.parking import Decide, decide, retry
from gateway.store.views.intent_views import intents
from tests.proxy.mail import POLICY, proof, send
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import RecordingUpstream, Seen
from tests.stack import Stack, stack
from tests.store.fences import opened, state_of
from tests.store.parked import make_due, make_older
from tests.until import until

QUEUED = POLICY + "    delivery: queued\n"
AWAITED = POLICY + "    approval: required\n"
LIMITED = "limits: {{body: 100B}}\n"
# Whoever is held up by an older write is told so after an instant.
IMPATIENT = """
upstream: reports
url: http://localhost:{port}
mount: {{path: /reports}}
timeouts: {{connect: 1s, total: 5s}}
defaults: {{fence: {{drain_timeout: 1ms}}}}
writes:
  - name: ask
    match: PATCH /reports/{{id}}
    resource: report/{{path.id}}
    intent: {{mode: required}}
    approval: required
  - {{name: write, match: "PUT /reports/{{id}}", resource: "report/{{path.id}}"}}
"""


async def approve(store_url: str, answer: RawAnswer, verdict: Literal["approve", "deny"] = "approve") -> None:
    """An operator decides about what was answered so."""
    async with opened(store_url) as store:
        record = await store.recall(str(intent(answer)["id"]))
        assert record is not None
        assert record.parking is not None
        decided = await decide(store, record, Decide(verdict, "operator", None, "a test", record.parking.digest))
        assert not isinstance(decided, Refused), decided


async def approve_newest(store_url: str, verdict: Literal["approve", "deny"] = "approve") -> bool:
    """Decide about what waits for an approval, if there is anything."""
    async with opened(store_url) as store:
        for record in (await intents(store, "awaiting_approval", None)).items:
            assert record.parking is not None
            await decide(store, record, Decide(verdict, "operator", None, "a test", record.parking.digest))
            return True
    return False


def intent(answer: RawAnswer) -> dict[str, object]:
    """The record that an answer shows."""
    record: dict[str, object] = json.loads(answer.body)
    return record


async def shown(gate: Stack, id: object) -> dict[str, object]:
    return intent(await ask(gate.port, "GET", f"/-/fence/intents/{id}"))


async def tried(gate: Stack, id: object) -> bool:
    """Whether it was tried to deliver it."""
    return (await shown(gate, id))["attempts"] != 0


def free_port() -> int:
    """Where nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port


async def becomes(gate: Stack, id: object, state: str) -> dict[str, object]:
    async def is_so() -> bool:
        return (await shown(gate, id))["state"] == state

    await until(is_so, within_s=10)
    return await shown(gate, id)


async def test_a_queued_write_is_taken_and_delivered(store_url: str, tmp_path: Path) -> None:
    """202 with where its record is; then the upstream gets it as it came, and the record has the answer."""
    async with stack(store_url, tmp_path, QUEUED) as gate:
        answer = await send(gate, "k-1", "X-Trace: 7")

        assert (answer.status, answer.decision) == (202, "queued")
        record = intent(answer)
        assert answer.value("Location") == f"/-/fence/intents/{record['id']}"
        assert (record["state"], record["attempts"]) == ("queued", 0)
        after = await becomes(gate, record["id"], "applied")
        assert after["attempts"] == 1
        [seen] = gate.upstream.seen
        assert seen.body == b'{"to": "x"}'
        assert seen.values("x-trace") == ["7"]


async def test_a_large_write_is_taken_from_the_disk(store_url: str, tmp_path: Path) -> None:
    """JSON too: the same by value is the same intent, and it is delivered byte for byte."""
    large = json.dumps({"to": "x", "text": "y" * 300_000}).encode()
    async with stack(store_url, tmp_path, QUEUED) as gate:
        answer = await send(gate, "k-1", body=large)
        again = await send(gate, "k-1", "Prefer: wait=10", body=large.replace(b", ", b","))

        assert (answer.status, again.decision) == (202, "replayed")
        assert [seen.body for seen in gate.upstream.seen] == [large]


async def test_whoever_prefers_to_wait_gets_the_answer(store_url: str, tmp_path: Path) -> None:
    """`Prefer: wait=N` (RFC 7240) holds the call for the real answer."""
    async with stack(store_url, tmp_path, QUEUED) as gate:
        answer = await send(gate, "k-1", "Prefer: respond-async, wait=10")

        assert (answer.status, answer.decision) == (200, "replayed")
        assert answer.value("Preference-Applied") == "wait=10"
        assert len(gate.upstream.seen) == 1


async def test_whoever_prefers_to_wait_is_told_why_it_was_refused(store_url: str, tmp_path: Path) -> None:
    """The upstream's own answer, as of a write that was sent at once; the record has it too."""
    head = b"HTTP/1.1 422 No\r\nContent-Type: text/plain\r\nSet-Cookie: a=b\r\n"

    async def answer(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(head + b"Content-Length: 3\r\n\r\nbad")

    async with stack(store_url, tmp_path, QUEUED, RecordingUpstream(answer)) as gate:
        told = await send(gate, "k-1", "Prefer: wait=10")

        assert (told.status, told.decision, told.body) == (422, "forwarded", b"bad")
        assert (told.value("Fencing-Outcome"), told.value("Content-Type")) == ("not_applied", "text/plain")
        assert told.value("Set-Cookie") is None and told.value("Idempotent-Replayed") is None
        async with opened(store_url) as store:
            [record] = (await intents(store, "failed", None)).items
        response = (await shown(gate, record.id))["response"]
        assert isinstance(response, dict) and (response["status"], response["body"]) == (422, "bad")


async def test_waiting_has_an_end(store_url: str, tmp_path: Path) -> None:
    """Nothing is known by then: the call is answered as one that did not wait, and says that it did."""
    later = asyncio.Event()

    async def answer(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        await later.wait()
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async with stack(store_url, tmp_path, QUEUED, RecordingUpstream(answer)) as gate:
        taken = await send(gate, "k-1", "Prefer: wait=1")

        assert (taken.status, taken.decision, taken.value("Preference-Applied")) == (202, "queued", "wait=1")
        assert intent(taken)["state"] == "in_flight"
        later.set()
        await becomes(gate, intent(taken)["id"], "applied")


async def test_a_repeat_while_it_waits_finds_the_same_record(store_url: str, tmp_path: Path) -> None:
    """And once it is applied, the answer; the upstream sees one request."""
    async with stack(store_url, tmp_path, AWAITED) as gate:
        first, second = await send(gate, "k-1"), await send(gate, "k-1")

        assert first.decision == second.decision == "awaiting-approval"
        assert first.value("Location") == second.value("Location")
        assert intent(first) == intent(second)
        await approve(store_url, first)
        await becomes(gate, intent(first)["id"], "applied")
        replayed = await send(gate, "k-1")
        assert (replayed.status, replayed.decision, replayed.body) == (200, "replayed", b'{"ok":true}')
        assert len(gate.upstream.seen) == 1


async def test_what_awaits_an_approval_holds_up_no_successor(store_url: str, tmp_path: Path) -> None:
    """Nobody knows when it is decided: its lease was released, and the next holder writes at once."""
    async with stack(store_url, tmp_path, IMPATIENT) as gate:
        await gate.lease("report/7", "a")
        asked = await gate.write("/reports/7", "Idempotency-Key: k-1", holder="a", method="PATCH")
        token = f"Fencing-Token: {gate.tokens['a']}"
        released = await ask(gate.port, "POST", "/-/fence/leases/release", token, body=b'{"resource": "report/7"}')
        await gate.lease("report/7", "b")
        written = await gate.write("/reports/7", holder="b")

        assert [each.decision for each in (asked, released, written)] == ["awaiting-approval", "released", "forwarded"]
        assert [seen.line for seen in gate.upstream.seen] == ["PUT /reports/7 HTTP/1.1"]


async def test_what_is_approved_is_sent_without_its_caller(store_url: str, tmp_path: Path) -> None:
    """Under its own epoch, without what proved its holder, and with the upstream's credentials of today."""
    with_credentials = AWAITED + "credentials:\n  - {{header: X-Api-Key, value: of-today}}\n"
    async with stack(store_url, tmp_path, with_credentials) as gate:
        answer = await send(gate, "k-1", "X-Api-Key: of-the-agent", "X-Kept: yes")
        assert gate.upstream.seen == []

        await approve(store_url, answer)
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)

        [seen] = gate.upstream.seen
        assert seen.values("x-api-key") == ["of-today"] and seen.values("x-kept") == ["yes"]
        assert seen.values("fencing-token") == seen.values("fencing-holder") == []


async def test_whoever_waits_for_an_approval_gets_the_answer(store_url: str, tmp_path: Path) -> None:
    """One call, from the request to what the upstream says of it."""
    async with stack(store_url, tmp_path, AWAITED) as gate:
        waiting = asyncio.get_running_loop().create_task(send(gate, "k-1", "Prefer: wait=20"))
        await until(lambda: approve_newest(store_url))

        answer = await waiting

        assert (answer.status, answer.decision, answer.body) == (200, "replayed", b'{"ok":true}')


@pytest.mark.parametrize(("verdict", "told"), [("deny", "approval-denied")])
async def test_what_is_denied_is_told_as_such(verdict: str, told: str, store_url: str, tmp_path: Path) -> None:
    """To the caller that waits, to whoever repeats it, and in the record, with the note."""
    async with stack(store_url, tmp_path, AWAITED) as gate:
        waiting = asyncio.get_running_loop().create_task(send(gate, "k-1", "Prefer: wait=20"))
        await until(lambda: approve_newest(store_url, "deny"))
        waited, repeated = await waiting, await send(gate, "k-1")

        assert (waited.status, waited.decision) == (repeated.status, repeated.decision) == (403, told)
        assert "(a test)" in str(waited.problem["detail"]) and "(a test)" in str(repeated.problem["detail"])
        facts = waited.problem["intent"]
        assert isinstance(facts, dict) and facts["state"] == "denied"
        record = await shown(gate, facts["id"])
        assert (record["state"], record["reason"]) == ("denied", "a test")
        assert gate.upstream.seen == []


@pytest.mark.parametrize(
    ("status", "field", "state"),
    [
        *((status, "", "failed") for status in (400, 401, 404, 409, 422)),
        *((status, "", "unknown") for status in (406, 408, 500)),
        (204, "", "applied"),
    ],
)
async def test_a_delivery_ends_as_its_answer_says(
    status: int, field: str, state: str, store_url: str, tmp_path: Path
) -> None:
    """A refusal for good is no reason to hold up the queue; what nobody knows is never sent again."""

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        code = status if b"first" in seen.body else 200
        writer.write(b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % code if code != 204 else b"HTTP/1.1 204 X\r\n\r\n")

    async with stack(store_url, tmp_path, QUEUED, RecordingUpstream(answer)) as gate:
        first = await send(gate, "k-1", body=b'"first"')
        second = await send(gate, "k-2", body=b'"second"')

        record = await becomes(gate, intent(first)["id"], state)
        await becomes(gate, intent(second)["id"], "applied")

        assert record["attempts"] == 1
        assert [seen.body for seen in gate.upstream.seen] == [b'"first"', b'"second"']


async def test_an_upstream_that_is_away_is_tried_again(store_url: str, tmp_path: Path) -> None:
    """Nothing was sent: it stays queued, in order, and goes out once the upstream is back."""
    port = free_port()
    async with stack(store_url, tmp_path, QUEUED.replace("{port}", str(port))) as gate:
        first, second = await send(gate, "k-1", body=b"1"), await send(gate, "k-2", body=b"2")
        await until(lambda: tried(gate, intent(first)["id"]))
        async with RecordingUpstream(port=port) as upstream:
            await becomes(gate, intent(second)["id"], "applied")

            assert (await shown(gate, intent(first)["id"]))["state"] == "applied"
            assert [seen.body for seen in upstream.seen] == [b"1", b"2"]


async def test_what_is_not_fenced_or_has_no_key_is_not_taken(store_url: str, tmp_path: Path) -> None:
    """Refused as an inline write would be, and no epoch moved by a request that is refused for its form."""
    async with stack(store_url, tmp_path, QUEUED + LIMITED) as gate:
        await send(gate, "k-1", epoch=42)
        stale = await send(gate, "k-2", epoch=41, holder="b")
        keyless = await send(gate, None, epoch=50)
        large = await send(gate, "k-3", epoch=51, body=b"x" * 101)
        async with RawClient(gate.port) as client:
            fields = (*proof(52), "Idempotency-Key: k-4", "Transfer-Encoding: chunked")
            await client.send(request("POST", "/mail/out", *fields) + b"65\r\n" + b"x" * 101 + b"\r\n0\r\n\r\n")
            chunked = await client.answer()
        mismatch = await send(gate, "k-1", epoch=42, body=b'{"to": "y"}')
        again = await send(gate, "k-5", epoch=42)

    told = [stale, keyless, large, chunked, mismatch, again]
    assert [answer.decision for answer in told] == [
        "stale-epoch", "idempotency-key-required", "body-too-large", "body-too-large", "intent-mismatch", "queued",
    ]  # fmt: skip


async def test_a_call_of_json_rpc_is_told_in_its_own_words(store_url: str, tmp_path: Path) -> None:
    """Its client looks into the body of a 200 only: an error says that it was taken; the repeat has the answer."""
    async with stack(store_url, tmp_path, QUEUED + "    errors: jsonrpc\n") as gate:
        call = b'{"jsonrpc": "2.0", "id": 7, "method": "send"}'
        taken = await send(gate, "k-1", body=call)

        error = json.loads(taken.body)
        assert (taken.status, taken.decision, error["id"]) == (200, "queued", 7)
        assert error["error"]["data"]["intent"]["state"] == "queued"
        await becomes(gate, error["error"]["data"]["intent"]["id"], "applied")
        assert (await send(gate, "k-1", body=call)).decision == "replayed"


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("name: send", "name: sent"),
        ("DELETE /mail/{{box}}", "DELETE /mail/new/{{box}}"),
        ("    delivery: queued\n", "    approval: required\n"),
    ],
    ids=["no such rule", "another path", "an approval"],
)
async def test_what_the_policy_no_longer_takes_is_not_sent(
    was: str, now: str, store_url: str, raw: Any, tmp_path: Path
) -> None:
    """It has failed, and the record says why; once the policy takes it again, an operator has it sent."""
    assert QUEUED.count(was) == 1
    async with stack(store_url, tmp_path, QUEUED.replace("{port}", str(free_port()))) as gate:
        id = str(intent(await send(gate, "k-1"))["id"])
        await until(lambda: tried(gate, id))
    make_older(raw, id, 60)
    make_due(raw, ResourceKey("mail/out"))
    async with stack(store_url, tmp_path, QUEUED.replace(was, now)) as gate:
        record = await becomes(gate, id, "failed")
        assert str(record["reason"]).startswith("the policy no longer takes it: ")
        assert gate.upstream.seen == []
    async with stack(store_url, tmp_path, QUEUED) as gate, opened(store_url) as store:
        failed = await store.recall(id)
        assert failed is not None
        assert isinstance(await retry(store, failed, note="the policy is mended", by="operator"), IntentRecord)
        await becomes(gate, id, "applied")
        assert len(gate.upstream.seen) == 1


async def test_a_binary_body_arrives_as_it_was(store_url: str, tmp_path: Path) -> None:
    """Byte for byte, also one that had to wait on disk."""
    body = bytes(range(256)) * 2048
    async with stack(store_url, tmp_path, QUEUED) as gate:
        answer = await send(gate, "k-1", "Content-Type: application/octet-stream", body=body)
        await becomes(gate, intent(answer)["id"], "applied")

        assert gate.upstream.seen[0].body == body


async def test_a_gateway_that_is_stopped_finishes_what_it_sends(store_url: str, tmp_path: Path) -> None:
    """The delivery under way ends as its answer says, and whoever waits is told that the write was taken."""
    answering = asyncio.Event()

    async def answer(_seen: Seen, writer: asyncio.StreamWriter) -> None:
        answering.set()
        await asyncio.sleep(0.2)
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")

    async with stack(store_url, tmp_path, QUEUED, RecordingUpstream(answer)) as gate:
        first, second = await send(gate, "k-1"), await send(gate, "k-2")
        await answering.wait()

    async with opened(store_url) as store:
        assert await state_of(store, str(intent(first)["id"])) == "applied"
        assert await state_of(store, str(intent(second)["id"])) in ("queued", "applied")
