"""A caller's connection: what one request leaves behind is no part of the next, and nobody holds it for nothing."""

import asyncio
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiohttp import web

from gateway.core.decision import BAD_REQUEST
from gateway.core.faults import CallerGone
from gateway.proxy import body, connection
from gateway.proxy.reply import Reply
from tests.gateway_process import running, write_policy
from tests.proxy.arriving import arriving, handled
from tests.raw import RawClient, request
from tests.recording import RecordingUpstream, Seen, answer_ok
from tests.stack import POLICY, Stack, stack
from tests.until import until

BY_BODY = POLICY.replace("report/{{path.id}}", "report/{{json:/id}}")
METHOD = b"X-Http-Method-Override: DELETE\r\n"
_IDLE = 10_000


def _chunked(gate: Stack, end: bytes) -> bytes:
    token = f"Fencing-Token: {gate.tokens['agent-a']}"
    return request("PUT", "/reports/7", token, "Transfer-Encoding: chunked") + b"2\r\n{}\r\n0\r\n" + end


@pytest.mark.parametrize("trailer", [b"X-T: 1\r\n", b"X-T: 1\r\nFencing-Token: 9\r\n", b"X: 0\r\n", METHOD])
@pytest.mark.parametrize("pipelined", [True, False], ids=["pipelined", "one after the other"])
async def test_a_trailer_ends_its_connection(store_url: str, tmp_path: Path, trailer: bytes, pipelined: bool) -> None:
    """A trailer's field is never given to the request that follows: that one is not looked at."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            following = request("GET", "/reports/7")
            await client.send(_chunked(gate, trailer + b"\r\n") + following * pipelined)
            answer = await client.answer()
            if not pipelined:
                client.writer.write(following)
            end = await client.line()

        assert (answer.status, answer.decision, answer.value("Connection")) == (200, "forwarded", "close")
        assert end == b""
        (seen,) = gate.upstream.seen
        assert (seen.body, seen.values("X-T"), seen.values("X")) == (b"{}", [], [])
        assert b"override" not in seen.raw.lower()


async def test_a_connection_outlives_a_body_in_chunks(store_url: str, tmp_path: Path) -> None:
    """Without a trailer, and however its last bytes are cut."""
    async with stack(store_url, tmp_path) as gate:
        await gate.lease("report/7")
        async with RawClient(gate.port) as client:
            whole = _chunked(gate, b"\r\n")
            statuses = []
            for cut in (len(whole), len(whole) - 1, len(whole) - 4, len(whole) - 6):
                await client.send(whole[:cut])
                await gate.upstream.until(lambda: len(gate.upstream.seen) == len(statuses))
                await client.send(whole[cut:])
                answer = await client.answer()
                statuses.append((answer.status, answer.value("Connection")))

        assert statuses == [(200, None)] * 4


async def test_requests_in_a_row_are_answered_in_order_one_at_a_time(store_url: str, tmp_path: Path) -> None:
    """However many come at once."""
    at_once = []

    async def answer(seen: Seen, writer: asyncio.StreamWriter) -> None:
        at_once.append(gate.upstream.receiving - len(gate.upstream.seen))
        await answer_ok(seen, writer)

    async with stack(store_url, tmp_path, upstream=RecordingUpstream(answer=answer)) as gate:
        async with RawClient(gate.port) as client:
            await client.send(b"".join(request("GET", f"/reports/{number}") for number in range(200)))
            answers = [await client.answer("GET") for _ in range(200)]

        assert {answer.decision for answer in answers} == {"passed"}
        assert [seen.line for seen in gate.upstream.seen] == [
            f"GET /reports/{number} HTTP/1.1" for number in range(200)
        ]
        assert set(at_once) == {0}


async def test_a_head_that_trickles_in_is_refused(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a fresh connection and on a used one; a connection on which nothing is under way stays open."""
    monkeypatch.setattr(connection, "_HEAD_WITHIN_S", 0.15)
    async with stack(store_url, tmp_path) as gate:
        async with RawClient(gate.port) as idle, RawClient(gate.port) as fresh, RawClient(gate.port) as used:
            for client in (idle, used):
                await client.send(request("GET", "/reports/7"))
                assert (await client.answer("GET")).status == 200
            await idle.send(b"\r\n")
            for client in (fresh, used):
                await client.send(b"GET /reports/7 HTT")
                await client.send(b"P/1.1\r\nHost: ")
            answers = [await fresh.answer("GET"), await used.answer("GET")]
            ends = [await fresh.line(), await used.line()]
            await idle.send(request("GET", "/reports/7"))
            last = await idle.answer("GET")

        assert [(answer.status, answer.decision) for answer in answers] == [(400, "bad-request")] * 2
        assert "not whole within" in str(answers[0].problem["detail"])
        assert ends == [b"", b""]
        assert last.status == 200


async def test_a_body_that_stalls_ends_its_connection(
    store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a rule waits for it before the write has a deadline; nothing was forwarded."""
    monkeypatch.setattr(body, "_STALL_S", 0.1)
    async with stack(store_url, tmp_path, BY_BODY) as gate:
        await gate.lease("report/7")
        before = await gate.highest("report/7")
        async with RawClient(gate.port) as client:
            token = f"Fencing-Token: {gate.tokens['agent-a']}"
            await client.send(request("PUT", "/reports/7", token, "Content-Length: 10") + b"{")
            with pytest.raises(ConnectionError):
                await client.answer()

        assert (gate.upstream.seen, gate.upstream.partial) == ([], [])
        assert await gate.highest("report/7") == before


async def test_a_body_that_trickles_in_ends_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A byte now and then is not enough; time in which nobody waits for it does not count."""
    monkeypatch.setattr(body, "_STALL_S", 0.3)
    monkeypatch.setattr(body, "_LEAST_IN_TIME", 5)
    async with arriving(1000) as enough, arriving(1000) as too_little:
        for _ in range(4):
            await enough.send(b"12345")
            assert await enough.body.read() == b"12345"
            await asyncio.sleep(0.1)

        async def trickle() -> None:
            while True:
                await too_little.send(b"1")
                await asyncio.sleep(0.12)

        trickling = asyncio.ensure_future(trickle())
        with pytest.raises(CallerGone, match="less than 5 bytes of the request's body came within"):
            while True:
                await too_little.body.read()
        trickling.cancel()


async def test_a_caller_that_left_before_its_body_was_asked_for_is_gone() -> None:
    """No fault of the gateway."""
    async with arriving(10) as coming:
        coming.client.writer.close()
        await until(lambda: coming.raw.transport is None)

        with pytest.raises(CallerGone):
            await coming.body.read()


async def test_a_handler_that_fails_ends_its_connection() -> None:
    """Its caller is told, whatever the bug; the request behind it is not looked at."""
    asked: list[str] = []

    async def handle(raw: web.BaseRequest) -> web.StreamResponse:
        asked.append(raw.path)
        raise LookupError("a bug")

    async with handled(handle) as port, RawClient(port) as client:
        await client.send(request("GET", "/1") + request("GET", "/2"))
        answer = await client.answer()

        assert (answer.status, answer.decision, answer.value("Connection")) == (500, "internal-error", "close")
        assert await client.line() == b""
        assert asked == ["/1"]


async def test_all_requests_of_a_connection_are_one_task() -> None:
    """A task for each would cost a tenth of what the connection costs."""
    tasks: set[asyncio.Task[object] | None] = set()

    async def handle(raw: web.BaseRequest) -> web.StreamResponse:
        tasks.add(asyncio.current_task())
        reply = Reply(raw, body.IncomingBody(raw, 0))
        reply.own(BAD_REQUEST, b"text/plain", b"no")
        return reply.sent()

    async with handled(handle) as port, RawClient(port) as client:
        for _ in range(3):
            await client.send(request("GET", "/"))
            assert (await client.answer()).body == b"no"

    assert len(tasks) == 1


@pytest.fixture
def many_descriptors() -> Iterator[None]:
    """Enough for both ends; a process that is started has as many."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < 2 * _IDLE:
        pytest.skip(f"needs {2 * _IDLE} file descriptors a process")
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * _IDLE, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_ten_thousand_idle_connections_are_held(tmp_path: Path, many_descriptors: None) -> None:
    """By one worker: each was used once, is used again, and costs less than 24 KiB meanwhile."""
    async with RecordingUpstream() as upstream:
        write_policy(tmp_path, upstream.port)
        async with running(tmp_path) as gateway:
            (worker,), port = gateway.workers(), gateway.proxy
            before = _resident_kib(worker)
            clients: list[RawClient] = []
            try:
                for _ in range(_IDLE):
                    clients.append(await RawClient(port).__aenter__())
                    assert await _status(clients[-1]) == 200
                held = _resident_kib(worker)
                statuses = {await _status(client) for client in clients}
            finally:
                for client in clients:
                    client.writer.close()
    print(f"{_IDLE} connections: resident {before >> 10} -> {held >> 10} MiB")

    assert statuses == {200}
    assert held - before < 24 * _IDLE


async def _status(client: RawClient) -> int:
    await client.send(request("GET", "/reports/7"))
    return (await client.answer("GET")).status


def _resident_kib(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1])
