"""Writes through the whole gateway: what is refused, what is forwarded, and what the upstream saw."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.raw import RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answering
from tests.stack import POLICY, stack
from tests.until import until


async def test_a_write_under_a_live_lease_is_forwarded_once(store_url: str, tmp_path: Path) -> None:
    """The upstream's answer comes back with the decision, the epoch and the outcome."""
    async with stack(store_url, tmp_path) as gate:
        granted = await gate.lease("report/7")
        answer = await gate.write("/reports/7")

        epoch = json.loads(granted.body)["epoch"]
        assert (answer.status, answer.body) == (200, b'{"ok":true}')
        assert answer.decision == "forwarded"
        assert (answer.value("Fencing-Epoch"), answer.value("Fencing-Outcome")) == (epoch, "applied")
        assert [seen.line for seen in gate.upstream.seen] == ["PUT /reports/7 HTTP/1.1"]


async def test_the_older_holder_is_refused_from_the_grant_on(store_url: str, tmp_path: Path) -> None:
    """G2: B has written nothing yet, and A is already stale."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a")
        taken = await gate.lease("report/7", "b", takeover=True)
        answer = await gate.write("/reports/7", holder="a")

        assert (answer.status, answer.decision) == (412, "stale-epoch")
        assert answer.problem["action"] == "stop"
        assert answer.problem["highest_epoch"] == json.loads(taken.body)["epoch"]
        assert gate.upstream.seen == []


async def test_a_refusal_is_readable_to_clients_of_one_api(store_url: str, tmp_path: Path) -> None:
    """Some look for `error` or `message` in it, some show its text where its type says the charset."""
    async with stack(store_url, tmp_path) as gate:
        answer = await ask(gate.port, "PUT", "/reports/7", body=b"{}")

        told = answer.problem
        named = {"type": "fencegate", "code": "token-required", "message": told["detail"]}
        assert (told["error"], told["message"]) == (named, told["detail"])
        assert answer.value("Content-Type") == "application/problem+json; charset=utf-8"


@pytest.mark.parametrize(
    ("method", "target", "fields", "status", "decision"),
    [
        ("PUT", "/reports/7", (), 428, "token-required"),
        ("PUT", "/reports/7", ("Fencing-Token: 42",), 400, "token-malformed"),
        ("PUT", "/reports/7", ("Fencing-Token: 18446744073709551615." + "x" * 22,), 401, "token-invalid"),
        ("PUT", "/reports/7", ("Fencing-Token: 1", "Fencing-Token: 2"), 400, "token-malformed"),
        ("PUT", "/reports/7", ("Fencing-Sequence: 1", "Fencing-Sequence: 1"), 400, "header-malformed"),
        ("PUT", "/reports/7", ("Fencing-Sequence: 01",), 400, "header-malformed"),
        ("PUT", "/reports/7/other", (), 403, "no-policy"),
        ("put", "/reports/7", (), 400, "bad-request"),
        ("PUT", "/elsewhere", (), 404, "no-upstream"),
        ("PUT", "/reports//7", (), 400, "ambiguous-target"),
        ("PUT", "/reports/x%2f7", (), 400, "ambiguous-target"),
    ],
)
async def test_what_is_refused_reaches_no_upstream(
    store_url: str, tmp_path: Path, method: str, target: str, fields: tuple[str, ...], status: int, decision: str
) -> None:
    """Each refusal has its status, its decision and an action, and moves nothing."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        before = await gate.highest("report/7")
        answer = await ask(gate.port, method, target, *fields, body=b"{}")

        assert (answer.status, answer.decision) == (status, decision)
        assert answer.problem["type"] == f"urn:fencegate:{decision}"
        assert answer.problem["action"]
        assert gate.upstream.seen == []
        assert await gate.highest("report/7") == before


async def test_a_read_passes(store_url: str, tmp_path: Path) -> None:
    """Reads need no token."""
    async with stack(store_url, tmp_path) as gate:
        answer = await ask(gate.port, "GET", "/reports/7?a=1")

        assert (answer.status, answer.decision, answer.body) == (200, "passed", b'{"ok":true}')
        assert gate.upstream.seen[0].line == "GET /reports/7?a=1 HTTP/1.1"


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST", "PATCH"])
@pytest.mark.parametrize("reset", [False, True], ids=["closes", "resets"])
async def test_an_upstream_that_executes_and_breaks_off_leaves_the_outcome_unknown(
    store_url: str, tmp_path: Path, method: str, reset: bool
) -> None:
    """Executed once; the caller is told that nobody knows, and where the record is."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        await gate.write("/reports/7")
        gate.upstream.answer = answering(b"", close=not reset, reset=reset)
        answer = await gate.write("/reports/7", method=method)

        assert (answer.status, answer.decision) == (504, "outcome-unknown")
        assert answer.problem["action"] == "wait"
        assert answer.problem["intent"]
        assert len(gate.upstream.seen) == 2


async def test_an_unknown_write_whose_answer_comes_late_becomes_known(store_url: str, tmp_path: Path) -> None:
    """The caller was told that nobody knows; the upstream's answer settles it after all, under the same intent."""
    release = asyncio.Event()

    async def late(_: Seen, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    policy = POLICY.replace("total: 5s", "total: 1s")
    async with stack(store_url, tmp_path, policy, RecordingUpstream(answer=late)) as gate:
        await gate.lease("report/7")
        answer = await gate.write("/reports/7")
        intent = answer.problem["intent"]
        assert isinstance(intent, dict)

        async def is_applied() -> bool:
            shown = await ask(gate.port, "GET", f"/-/fence/intents/{intent['id']}")
            return bool(json.loads(shown.body)["state"] == "applied")

        assert (answer.status, answer.decision, intent["state"]) == (504, "outcome-unknown", "unknown")
        assert not await is_applied()
        release.set()
        await until(is_applied)
        assert len(gate.upstream.seen) == 1


async def test_a_newer_write_waits_for_an_older_one_in_flight(store_url: str, tmp_path: Path) -> None:
    """G3: A's write is at a slow upstream; B takes over, and its write is sent only after A's has ended."""
    release = asyncio.Event()

    async def slow(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body == b'"a"':
            await release.wait()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=slow)) as gate:
        await gate.lease("report/7", "a")
        first = asyncio.ensure_future(gate.write("/reports/7", holder="a", body=b'"a"'))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        taken = await gate.lease("report/7", "b", takeover=True)
        second = asyncio.ensure_future(gate.write("/reports/7", holder="b", body=b'"b"'))
        read = await ask(gate.port, "GET", "/reports/7")
        assert json.loads(taken.body)["in_flight"] == 1
        assert read.status == 200
        assert not second.done()
        release.set()
        answers = [await first, await second]

        assert [answer.decision for answer in answers] == ["forwarded", "forwarded"]
        assert [seen.body for seen in gate.upstream.seen if seen.body] == [b'"a"', b'"b"']


async def test_a_newer_write_gives_up_when_the_older_one_stays(store_url: str, tmp_path: Path) -> None:
    """After `drain_timeout` the newcomer is told to try again; it was not sent."""
    policy = POLICY + "    fence: {{drain_timeout: 200ms, queue_timeout: 200ms}}\n"

    async def never(_: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with stack(store_url, tmp_path, policy, RecordingUpstream(answer=never), grace_s=0.1) as gate:
        await gate.lease("report/7", "a")
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['a']}"
            await client.send(request("PUT", "/reports/7", token, body=b"{}"))
            await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
            busy = await gate.write("/reports/7", holder="a")
            await gate.lease("report/7", "b", takeover=True)
            pending = await gate.write("/reports/7", holder="b")

        assert (busy.status, busy.decision, busy.value("Retry-After")) == (503, "resource-busy", "1")
        assert (pending.status, pending.decision, pending.value("Retry-After")) == (503, "takeover-pending", "1")
        assert len(gate.upstream.seen) == 1


async def test_writes_of_one_epoch_are_serial(store_url: str, tmp_path: Path) -> None:
    """Under `serial` no two writes of a resource are at the upstream at once, and all get through in order."""
    at_once = most = 0

    async def counting(_: Seen, writer: asyncio.StreamWriter) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=counting)) as gate:
        await gate.lease("report/7")
        answers = await asyncio.gather(*(gate.write("/reports/7") for _ in range(20)))

        assert {answer.status for answer in answers} == {200}
        assert (len(gate.upstream.seen), most) == (20, 1)
