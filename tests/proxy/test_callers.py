"""Callers that leave, hurry or speak old HTTP: nothing of theirs stays in flight, and nobody gets another's answer."""

import asyncio
import json
from pathlib import Path

import pytest

from tests.raw import RawClient, ask, request
from tests.recording import OK, RecordingUpstream, Seen
from tests.stack import POLICY, Stack, stack
from tests.until import until


class _Held:
    """Answers a write whose body is `"held"` only after `release`; everything else at once."""

    def __init__(self) -> None:
        self.release = asyncio.Event()

    async def __call__(self, seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body == b'"held"':
            await self.release.wait()
        writer.write(OK)


def _token(gate: Stack, holder: str = "agent-a") -> str:
    return f"Fencing-Token: {gate.tokens[holder]}"


async def _in_flight(gate: Stack) -> object:
    """How many writes a takeover finds in flight."""
    granted = await gate.lease("report/7", "probe", takeover=True)
    return json.loads(granted.body)["in_flight"]


@pytest.mark.parametrize("abort", [False, True], ids=["closes", "resets"])
async def test_a_caller_that_leaves_before_its_body_is_whole_leaves_nothing(
    store_url: str, tmp_path: Path, abort: bool
) -> None:
    """Nothing of the body had come: the upstream sees nothing, and the next write gets through."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            expect = ("Expect: 100-continue", "Content-Length: 10")
            await client.send(request("PUT", "/reports/7", _token(gate), *expect))
            await client.line()
            if abort:
                client.writer.transport.abort()
        after = await gate.write("/reports/7")

        assert after.status == 200
        assert [seen.body for seen in gate.upstream.seen] == [b"{}"]
        assert gate.upstream.partial == []
        assert await _in_flight(gate) == 0


async def test_a_caller_that_leaves_within_its_body_never_completes_it(store_url: str, tmp_path: Path) -> None:
    """The upstream is cut off in the middle of the request. Its holder's next write gets through; a newer holder would
    wait, for the upstream may be at work on what it has."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            await client.send(request("PUT", "/reports/7", _token(gate), "Content-Length: 10") + b"12345")
            await gate.upstream.until(lambda: gate.upstream.connections == 1)
        await gate.upstream.until(lambda: len(gate.upstream.partial) == 1)
        after = await gate.write("/reports/7")

        assert gate.upstream.partial[0].endswith(b"\r\n\r\n12345")
        assert after.status == 200
        assert [seen.body for seen in gate.upstream.seen] == [b"{}"]
        assert await _in_flight(gate) == 1


async def test_a_caller_that_leaves_while_it_waits_in_line_is_not_served(store_url: str, tmp_path: Path) -> None:
    """Its write is never sent; those behind it get through in order."""
    held = _Held()
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=held)) as gate:
        await gate.lease("report/7")
        first = asyncio.ensure_future(gate.write("/reports/7", body=b'"held"'))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        async with RawClient(gate.port) as leaver:
            await leaver.send(request("PUT", "/reports/7", _token(gate), body=b'"gone"'))
            third = asyncio.ensure_future(gate.write("/reports/7", body=b'"third"'))
            await ask(gate.port, "GET", "/reports/8")
        await ask(gate.port, "GET", "/reports/8")
        held.release.set()
        answers = [await first, await third]

        assert [answer.decision for answer in answers] == ["forwarded", "forwarded"]
        bodies = [seen.body for seen in gate.upstream.seen if seen.line.startswith("PUT")]
        assert bodies == [b'"held"', b'"third"']
        assert await _in_flight(gate) == 0


async def test_a_caller_that_leaves_after_its_last_byte_changes_nothing(store_url: str, tmp_path: Path) -> None:
    """The write ends as what the upstream made of it; until then it is in flight, afterwards it is not."""
    held = _Held()
    policy = POLICY + "    revision: gateway\n"
    async with stack(store_url, tmp_path, policy, RecordingUpstream(answer=held)) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            await client.send(request("PUT", "/reports/7", _token(gate), body=b'"held"'))
            await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        waiting = asyncio.ensure_future(gate.write("/reports/7"))
        await ask(gate.port, "GET", "/reports/7")
        assert not waiting.done()
        held.release.set()
        after = await waiting

        assert (after.status, after.value("Fencing-Revision")) == (200, "2")
        assert await _in_flight(gate) == 0


@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_a_caller_that_leaves_during_its_answer_holds_nothing(
    store_url: str, tmp_path: Path, method: str
) -> None:
    """A write's answer is read to its end all the same; a read's connection is given up."""
    go_on = asyncio.Event()

    async def slow(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.body != b'"slow"':
            writer.write(OK)
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + bytes(200_000))
        await go_on.wait()
        writer.write(bytes(100_000))

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=slow)) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            await client.send(request(method, "/reports/7", _token(gate), body=b'"slow"'))
            await client.line()
        go_on.set()
        after = await gate.write("/reports/7")

        assert (after.status, after.value("Fencing-Outcome")) == (200, "applied")
        assert await _in_flight(gate) == 0


async def test_a_caller_that_leaves_while_it_waits_for_a_lease_gets_none(store_url: str, tmp_path: Path) -> None:
    """The next who asks finds the lease free when its holder releases it."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7", "a")
        async with RawClient(gate.port) as client:
            asked = {"resource": "report/7", "holder": "gone", "ttl_s": 60, "wait_s": 30}
            await client.send(request("POST", "/-/fence/leases", body=json.dumps(asked).encode()))
            await ask(gate.port, "GET", "/reports/7")
        released = await ask(
            gate.port, "POST", "/-/fence/leases/release", _token(gate, "a"), body=b'{"resource": "report/7"}'
        )
        granted = await gate.lease("report/7", "b", wait_s=10)

        assert (released.status, granted.status) == (204, 201)
        assert json.loads(granted.body)["holder"] == "b"


@pytest.mark.parametrize(("key", "left"), [((), 404), (("Idempotency-Key: k",), 200)], ids=["no key", "a key"])
async def test_a_caller_that_leaves_while_older_writes_end_leaves_no_lease(
    store_url: str, tmp_path: Path, key: tuple[str, ...], left: int
) -> None:
    """Nobody has the token: the lease is released. With a key the call may be repeated, and is told it then."""
    held = _Held()
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=held)) as gate:
        await gate.lease("report/7")
        write = asyncio.ensure_future(gate.write("/reports/7", body=b'"held"'))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)

        async def holder() -> object:
            shown = await ask(gate.port, "GET", "/-/fence/leases?resource=report/7")
            return json.loads(shown.body).get("holder")

        async def is_granted() -> bool:
            return await holder() == "gone"

        async def is_free() -> bool:
            return await holder() is None

        async with RawClient(gate.port) as client:
            asked = {"resource": "report/7", "holder": "gone", "ttl_s": 60, "wait_s": 30, "takeover": True}
            await client.send(request("POST", "/-/fence/leases", *key, body=json.dumps(asked).encode()))
            await until(is_granted)
        if not key:
            await until(is_free)
        held.release.set()
        await write
        again = await ask(gate.port, "GET", "/-/fence/leases?resource=report/7")

        assert again.status == left


async def test_pipelined_requests_are_answered_in_order(store_url: str, tmp_path: Path) -> None:
    """Reads, writes and refusals, each with its own answer, on one connection."""

    async def echo(seen: Seen, writer: asyncio.StreamWriter) -> None:
        body = seen.line.encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=echo)) as gate:
        await gate.lease("report/7")
        requests = [
            request("GET", "/reports/1"),
            request("PUT", "/reports/7", _token(gate), body=b"{}"),
            request("PUT", "/reports/7", body=b"refused"),
            request("GET", "/reports//2"),
            request("GET", "/reports/3", "Connection: close"),
        ]
        async with RawClient(gate.port) as client:
            await client.send(b"".join(requests))
            answers = [await client.answer() for _ in range(5)]
            end = await client.line()

        assert [(answer.status, answer.decision) for answer in answers] == [
            (200, "passed"),
            (200, "forwarded"),
            (428, "token-required"),
            (400, "ambiguous-target"),
            (200, "passed"),
        ]
        assert end == b""
        assert [seen.line.split(" ")[1] for seen in gate.upstream.seen] == ["/reports/1", "/reports/7", "/reports/3"]


@pytest.mark.parametrize(
    ("fields", "kept"), [((), False), (("Connection: keep-alive",), True), (("Connection: close",), False)]
)
@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_http_1_0_is_spoken_as_it_was(
    store_url: str, tmp_path: Path, method: str, fields: tuple[str, ...], kept: bool
) -> None:
    """No chunks in an answer, no connection kept unless it is asked for, no 100."""

    async def chunked(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n")

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=chunked)) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            sent = request(method, "/reports/7", _token(gate), "Expect: 100-continue", *fields, body=b"{}")
            await client.send(sent.replace(b"HTTP/1.1", b"HTTP/1.0"))
            answer = await client.answer()
            is_open = not client.reader.at_eof() and answer.value("Connection") == "keep-alive"

        assert (answer.status, answer.body, answer.value("Transfer-Encoding")) == (200, b"abc", None)
        assert is_open == kept
        assert gate.upstream.seen[0].line == f"{method} /reports/7 HTTP/1.1"


async def test_a_refusal_with_a_small_body_keeps_the_connection(store_url: str, tmp_path: Path) -> None:
    """The body has come whole: the next request stands behind it."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            await client.send(request("PUT", "/reports/7", body=b"{}"))
            refused = await client.answer()
            await client.send(request("PUT", "/reports/7", _token(gate), body=b"{}"))
            answer = await client.answer()

        assert (refused.decision, refused.value("Connection")) == ("token-required", None)
        assert (answer.status, answer.value("Connection")) == (200, None)


async def test_the_reserved_prefix_is_the_gateway_s_own(store_url: str, tmp_path: Path) -> None:
    """Whatever upstream is mounted at `/`, it never sees a call under `/-/fence/`."""
    policy = POLICY.replace("mount: {{path: /reports}}\n", "")
    async with stack(store_url, tmp_path, policy) as gate:
        for method, target in (("GET", "/-/fence/x"), ("PUT", "/-/fence/leases"), ("GET", "/-/fence/leases/renew")):
            answer = await ask(gate.port, method, target, body=b"{}")
            assert answer.status in (404, 405)
        other = await ask(gate.port, "GET", "/-/fences")

        assert (other.status, [seen.line for seen in gate.upstream.seen]) == (200, ["GET /-/fences HTTP/1.1"])


async def test_no_other_spelling_of_the_prefix_is_a_call(store_url: str, tmp_path: Path) -> None:
    """It grants nothing; nor is it a write that some rule takes."""
    body = b'{"resource": "report/7", "holder": "a", "ttl_s": 60}'
    spelled = ("/-/fence/leases/", "/-/fence//leases", "/-/Fence/leases", "/-/fence/leases%2Frenew", "/-/fence")
    spelled += ("/-%2Ffence/leases", "/reports/../-/fence/leases", "/reports/-/fence/leases", "/-/fence/./leases")
    async with stack(store_url, tmp_path) as gate:
        told = [(await ask(gate.port, "POST", target, body=body)).status for target in (*spelled, "/-/fence/leases")]

        assert set(told[:-1]) <= {400, 403, 404}
        assert (told[-1], gate.upstream.seen) == (201, [])


async def test_what_a_gone_caller_leaves_in_the_line_is_nothing(store_url: str, tmp_path: Path) -> None:
    """Twenty callers leave at once; the line behind them goes on without them."""
    held = _Held()
    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=held)) as gate:
        await gate.lease("report/7")
        first = asyncio.ensure_future(gate.write("/reports/7", body=b'"held"'))
        await gate.upstream.until(lambda: len(gate.upstream.seen) == 1)
        leavers = [RawClient(gate.port) for _ in range(20)]
        for leaver in leavers:
            await leaver.__aenter__()
            await leaver.send(request("PUT", "/reports/7", _token(gate), body=b'"gone"'))
        for leaver in leavers:
            leaver.writer.transport.abort()
        held.release.set()
        await first
        last = await gate.write("/reports/7", body=b'"last"')

        assert (first.result().status, last.status) == (200, 200)
        assert await _in_flight(gate) == 0
