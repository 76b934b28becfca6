"""More callers than there is room for: who is turned away is told so, loses nothing, and keeps nobody else out."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.proxy import server
from tests.raw import RawAnswer, RawClient, ask, request
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.stack import POLICY, Stack, stack

# A bound that is reached quickly: six places for each kind of waiting, and four for those that go first.
MOST = 16
OF_A_KIND = 6
JSON = "Content-Type: application/json"
BY_BODY = POLICY.replace("report/{{path.id}}", "report/{{json:/id}}")
BARE = POLICY + "    authority: header\n"


def head_of_a_write(gate: Stack, target: str = "/reports/7", length: int = 2, holder: str = "agent-a") -> bytes:
    return request("PUT", target, JSON, f"Fencing-Token: {gate.tokens[holder]}", f"Content-Length: {length}")


@contextlib.asynccontextmanager
async def clients(port: int, count: int) -> AsyncIterator[list[RawClient]]:
    async with contextlib.AsyncExitStack() as opened:
        yield [await opened.enter_async_context(RawClient(port)) for _ in range(count)]


def told(answer: RawAnswer) -> tuple[int, str | None, str | None, object]:
    return answer.status, answer.decision, answer.value("Retry-After"), answer.problem["action"]


OVERLOADED = (503, "overloaded", "2", "retry")


@pytest.mark.parametrize("policy", [POLICY, BY_BODY], ids=["for the upstream", "for a rule"])
async def test_bodies_that_do_not_come_keep_nobody_out(store_url: str, tmp_path: Path, policy: str) -> None:
    """A further one is turned away before anything is done; whole requests, reads and renewals go on."""
    async with stack(store_url, tmp_path, policy, max_waiting=MOST) as gate:
        await gate.lease("report/7")
        for number in range(OF_A_KIND):
            await gate.lease(f"report/s{number}", f"s{number}")
        token = f"Fencing-Token: {gate.tokens['agent-a']}"
        body, slowly = b'{"id": "7"}', b'{"id": "s0"}'
        async with clients(gate.port, OF_A_KIND + 2) as (*slow, late, renewing):
            for number, client in enumerate(slow):
                name = f"s{number}"
                await client.send(head_of_a_write(gate, f"/reports/{name}", len(slowly), name) + b"{")
            await late.send(head_of_a_write(gate, length=len(body)))
            refused = await late.answer()
            renewal = json.dumps({"resource": "report/7"}).encode()
            whole = request("POST", "/-/fence/leases/renew", token, body=renewal)
            await renewing.send(whole[:-1])
            good = [await gate.write("/reports/7", JSON, body=body) for _ in range(3)]
            read = await ask(gate.port, "GET", "/reports/7")
            await renewing.send(whole[-1:])
            renewed = await renewing.answer()

            await slow[0].send(slowly[1:])
            last = await slow[0].answer()
            again = await gate.write("/reports/7", JSON, body=body)

        assert (told(refused), refused.value("Connection")) == (OVERLOADED, "close")
        assert {answer.decision for answer in (*good, last, again)} == {"forwarded"}
        assert (read.status, renewed.status) == (200, 200)
        assert len(gate.upstream.seen) == 6


@pytest.mark.parametrize("policy", [POLICY, BARE], ids=["leased", "granted elsewhere"])
async def test_a_line_of_writes_has_an_end(store_url: str, tmp_path: Path, policy: str) -> None:
    """Whoever is turned away there has moved nothing: the older epoch still rules. Those in line have their turn."""
    go_on = asyncio.Event()

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        await answer_ok(seen, writer)

    async with stack(store_url, tmp_path, policy, RecordingUpstream(answer=answer), max_waiting=MOST) as gate:
        await gate.lease("report/7")
        of = (f"Fencing-Token: {gate.tokens.get('agent-a', '41')}", "Fencing-Holder: agent-a")
        async with clients(gate.port, OF_A_KIND + 1) as line:
            await line[0].send(request("PUT", "/reports/7", *of, body=b"{}"))
            await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
            for client in line[1:]:
                await client.send(request("PUT", "/reports/7", *of, body=b"{}"))
            newer = of if policy is POLICY else ("Fencing-Token: 42", "Fencing-Holder: agent-b")
            # Of the same epoch, until the line is full.
            await eventually_refused(gate, *of)
            refused = await ask(gate.port, "PUT", "/reports/7", *newer, body=b"{}")
            go_on.set()
            decisions = [(await client.answer()).decision for client in line]
        older = await ask(gate.port, "PUT", "/reports/7", *of, body=b"{}")

        assert told(refused) == OVERLOADED
        # One of the line may have found it full of those that were asked meanwhile.
        assert decisions.count("forwarded") >= OF_A_KIND
        assert set(decisions) <= {"forwarded", "overloaded"}
        assert older.decision == "forwarded"


async def test_what_was_turned_away_runs_once_when_it_is_repeated(store_url: str, tmp_path: Path) -> None:
    """`overloaded` says that nothing was done: the same keys again, until none is told so, and none ran twice."""
    policy = POLICY + "    intent: {{mode: required}}\n"
    async with stack(store_url, tmp_path, policy, max_waiting=MOST) as gate:
        await gate.lease("report/7")
        left, rounds = {f"key-{number}" for number in range(40)}, []
        async with asyncio.timeout(60):
            while left:
                writing = {key: gate.write("/reports/7", f"Idempotency-Key: {key}", body=key.encode()) for key in left}
                answers = dict(zip(writing, await asyncio.gather(*writing.values()), strict=True))
                left = {key for key, answer in answers.items() if answer.decision == "overloaded"}
                rounds.append({answer.decision for answer in answers.values()})
        repeats = [await gate.write("/reports/7", f"Idempotency-Key: key-{at}", body=b"key-%d" % at) for at in (0, 39)]

        assert rounds[0] == {"forwarded", "overloaded"}
        assert set().union(*rounds) == {"forwarded", "overloaded"}
        assert sorted(seen.body for seen in gate.upstream.seen) == sorted(b"key-%d" % number for number in range(40))
        assert [answer.decision for answer in repeats] == ["replayed"] * 2


async def eventually_refused(gate: Stack, *fields: str) -> RawAnswer:
    """The first answer soon to one more write; those before it stand in line and are given up."""
    async with asyncio.timeout(20):
        while True:
            async with RawClient(gate.port) as client:
                await client.send(request("PUT", "/reports/7", *fields, body=b"{}"))
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(0.5):
                        return await client.answer()


async def test_a_call_that_would_wait_for_a_lease_is_turned_away(store_url: str, tmp_path: Path) -> None:
    """One that does not wait is answered, and those that wait have their turn."""
    async with stack(store_url, tmp_path, max_waiting=MOST) as gate:
        await gate.lease("report/7")
        asked = json.dumps({"resource": "report/7", "holder": "b", "ttl_s": 60, "wait_s": 50}).encode()
        async with clients(gate.port, OF_A_KIND + 1) as waiting:
            for client in waiting:
                await client.send(request("POST", "/-/fence/leases", body=asked))
            done, _ = await asyncio.wait(
                [asyncio.ensure_future(client.answer()) for client in waiting], return_when=asyncio.FIRST_COMPLETED
            )
            at_once = await gate.lease("report/7", "agent-c")

        assert [told(answer.result()) for answer in done] == [OVERLOADED]
        assert at_once.problem["type"] == "urn:fencegate:lease-held"


async def test_whoever_would_wait_for_a_delivery_is_told_at_once_that_it_was_taken(
    store_url: str, tmp_path: Path
) -> None:
    """What is queued is queued: only the preference to wait is not granted."""
    go_on = asyncio.Event()

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        await answer_ok(seen, writer)

    queued = POLICY + "    delivery: queued\n    intent: {{mode: required}}\n"
    async with stack(store_url, tmp_path, queued, RecordingUpstream(answer=answer), max_waiting=MOST) as gate:
        await gate.lease("report/7")
        fields = (f"Fencing-Token: {gate.tokens['agent-a']}", "Prefer: wait=50")
        async with clients(gate.port, OF_A_KIND + 1) as waiting:
            for number, client in enumerate(waiting):
                await client.send(request("PUT", "/reports/7", *fields, f"Idempotency-Key: k{number}", body=b"{}"))
            answering = [asyncio.ensure_future(client.answer()) for client in waiting]
            done, _ = await asyncio.wait(answering, return_when=asyncio.FIRST_COMPLETED)
            (at_once,) = (each.result() for each in done)
            go_on.set()
            answers = [await each for each in answering]

        assert (at_once.status, at_once.decision) == (202, "queued")
        assert at_once.value("Preference-Applied") is None
        assert sum(each.status == 200 for each in answers) == OF_A_KIND


async def test_a_connection_too_many_is_told_so(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever it sends, and however much of it; those that are open are served, and one that ends makes room."""
    monkeypatch.setattr(server, "_IDLE_FOR_S", 3_600.0)
    async with stack(store_url, tmp_path, max_connections=MOST) as gate:
        async with clients(gate.port, MOST) as accepted:
            for client in accepted:
                await client.send(request("GET", "/reports/7"))
                assert (await client.answer("GET")).status == 200
            async with RawClient(gate.port) as small, RawClient(gate.port) as large:
                await small.send(request("GET", "/reports/7"))
                await large.send(request("PUT", "/reports/7", body=bytes(200_000)))
                refused = [await small.answer(), await large.answer()]
                ends = [await small.line(), await large.line()]
            await accepted[0].send(request("GET", "/reports/7"))
            served = await accepted[0].answer("GET")

        assert [told(answer) for answer in refused] == [OVERLOADED] * 2
        assert ({answer.value("Connection") for answer in refused}, ends) == ({"close"}, [b"", b""])
        assert served.status == 200


async def test_sleepers_make_room_for_a_newcomer(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only those on which nothing is under way, and nothing has begun to come."""
    monkeypatch.setattr(server, "_IDLE_FOR_S", 0.0)
    async with stack(store_url, tmp_path, max_connections=MOST) as gate:
        await gate.lease("report/7")
        async with clients(gate.port, MOST) as sleepers:
            begun, sending = sleepers[0], sleepers[1]
            await begun.send(b"GET /reports/7 HTTP/1.1\r\n")
            await sending.send(head_of_a_write(gate) + b"{")
            reads = [await ask(gate.port, "GET", "/reports/7") for _ in range(2 * MOST)]
            await begun.send(b"Host: gateway\r\n\r\n")
            await sending.send(b"}")
            kept = [await begun.answer("GET"), await sending.answer()]

        assert {answer.status for answer in reads} == {200}
        assert [answer.decision for answer in kept] == ["passed", "forwarded"]


async def test_refused_callers_that_go_on_sending_make_room_first(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each has its answer, and only its body is still taken from it; nobody who was served is sent away for them."""
    monkeypatch.setattr(server, "_IDLE_FOR_S", 0.0)
    async with stack(store_url, tmp_path, max_connections=MOST) as gate:
        async with RawClient(gate.port) as sleeper, clients(gate.port, MOST - 1) as refused:
            await sleeper.send(request("GET", "/reports/7"))
            await sleeper.answer("GET")
            for client in refused:
                await client.send(request("PUT", "/reports/7", "Fencing-Token: 1.x", "Content-Length: 100000") + b"{")
            told = [(await client.answer()).decision for client in refused]
            reads = [await ask(gate.port, "GET", "/reports/7") for _ in range(MOST - 1)]
            await sleeper.send(request("GET", "/reports/7"))
            served = await sleeper.answer("GET")

        assert set(told) == {"token-malformed"}
        assert {answer.status for answer in (*reads, served)} == {200}
