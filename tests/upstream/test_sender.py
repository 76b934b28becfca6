"""The sender against a raw upstream: once, within the deadline, and an honest account of what happened."""

import asyncio
import gc
import socket
from dataclasses import replace

import pytest

from gateway.core.faults import CallerGone
from gateway.core.outcome import NoReply, NotSent, Overdue
from gateway.core.rule import Limits, Timeouts
from gateway.core.term import Term
from gateway.flow.clock import BootClock
from gateway.upstream.exchange import Exchange
from gateway.upstream.pool import Pool
from gateway.upstream.reply import Reply
from gateway.upstream.sender import HttpSender, _Attempt, _Outgoing, _Sending
from gateway.upstream.wire import connect
from tests.recording import OK, RecordingUpstream, Seen, answering
from tests.upstream.given import Given, SetClock, request, send, upstream_at


async def test_whether_cookies_are_dropped_is_the_policys_that_the_request_has(sender: HttpSender) -> None:
    """Not that of the connection, which a reload leaves open."""
    head = b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nContent-Length: 0\r\n\r\n"
    async with RecordingUpstream(answer=answering(head)) as recorder:
        for dropped in (False, True, False):
            upstream = upstream_at(recorder.port, drops_cookies=dropped)
            reply = await send(sender, upstream, request(), Given(whole=True))
            assert isinstance(reply, Reply)
            assert ((b"Set-Cookie", b"a=1") in reply.headers) is not dropped
            reply.close()

        assert recorder.connections == 1


@pytest.mark.parametrize("method", ["PUT", "DELETE", "POST", "PATCH"])
@pytest.mark.parametrize("reused", [False, True], ids=["fresh connection", "reused connection"])
@pytest.mark.parametrize(
    "body",
    [lambda: Given(whole=True), lambda: Given(b"{}", whole=True), lambda: Given(b"a" * 100_000, b"b" * 100_000)],
    ids=["empty", "small", "streamed"],
)
async def test_a_request_whose_upstream_closes_without_an_answer_is_sent_once(
    sender: HttpSender, method: str, reused: bool, body: object
) -> None:
    """The upstream executes and closes: it saw the request once, and the evidence is that no reply came."""
    async with RecordingUpstream() as recorder:
        upstream = upstream_at(recorder.port)
        if reused:
            first = await send(sender, upstream, request(), Given(whole=True))
            assert isinstance(first, Reply)
            first.close()
        before = len(recorder.seen)
        recorder.answer = answering(b"", close=True)

        evidence = await send(sender, upstream, request(method), body())

        assert isinstance(evidence, NoReply) and evidence.cause == "closed"
        assert len(recorder.seen) == before + 1
        assert recorder.connections == 1


async def test_an_answer_is_read_whole_and_its_connection_is_used_again(sender: HttpSender) -> None:
    """Two requests, one connection, both answers whole."""
    async with RecordingUpstream() as recorder:
        for _ in range(2):
            reply = await send(sender, upstream_at(recorder.port), request(), Given(b"{}", whole=True))
            assert isinstance(reply, Reply)
            assert await reply.read_small(1000) == (b'{"ok":true}', True)
            reply.close()

        assert recorder.connections == 1
        assert [seen.body for seen in recorder.seen] == [b"{}", b"{}"]


@pytest.mark.parametrize("ends", [False, True], ids=["kept alive", "closed by the upstream"])
async def test_an_exchange_that_is_over_is_freed_at_once(sender: HttpSender, ends: bool) -> None:
    """It is part of no cycle: a busy gateway would spend a tenth of its time in finding them."""
    async with RecordingUpstream(answer=answering(OK, close=ends)) as recorder:
        upstream = upstream_at(recorder.port)
        gc.collect()
        gc.disable()
        try:
            for _ in range(3):
                reply = await send(sender, upstream, request(), Given(b"{}", whole=True))
                assert isinstance(reply, Reply)
                await reply.read_small(1000)
                reply.close()
                del reply
            left = [thing for thing in gc.get_objects() if isinstance(thing, Exchange)]
        finally:
            gc.enable()

    assert left == []


async def test_an_idle_connection_that_the_upstream_closed_is_not_used(sender: HttpSender) -> None:
    """The end of an idle connection is seen before the next request would be lost on it."""
    async with RecordingUpstream(answer=answering(OK, close=True)) as recorder:
        for _ in range(3):
            reply = await send(sender, upstream_at(recorder.port), request(), Given(whole=True))
            assert isinstance(reply, Reply)
            await reply.read_small(1000)
            reply.close()

        assert len(recorder.seen) == 3


async def test_nothing_is_sent_after_the_deadline() -> None:
    """A deadline that has passed before the first byte leaves the upstream untouched."""
    clock = SetClock()
    sender = HttpSender(clock)
    async with RecordingUpstream() as recorder:
        clock.passed = True
        evidence = await send(sender, upstream_at(recorder.port), request(), Given(b"{}", whole=True))

        assert isinstance(evidence, NotSent) and evidence.cause == "late"
        assert (recorder.seen, recorder.partial) == ([], [])
    sender.close()


async def test_a_late_request_whose_body_has_begun_is_not_tried_again() -> None:
    """The piece that was taken from the caller is gone: sent again, the body would arrive without it."""
    clock = SetClock()
    sender = HttpSender(clock)

    class Turning(Given):
        async def read(self) -> bytes:
            clock.passed = True
            return await super().read()

    async with RecordingUpstream() as recorder:
        evidence = await send(sender, upstream_at(recorder.port), request(), Turning(b"first", b"second"))

        assert isinstance(evidence, NotSent) and evidence.cause == "unreachable"
        assert (recorder.seen, recorder.partial) == ([], [])
    sender.close()


async def test_a_body_that_does_not_begin_in_time_proves_that_nothing_was_sent(sender: HttpSender) -> None:
    """The head waits for the first piece; without one by the deadline nothing has left."""

    class Silent(Given):
        async def read(self) -> bytes:
            await asyncio.Event().wait()
            return b""

    async with RecordingUpstream() as recorder:
        upstream = upstream_at(recorder.port, timeouts=Timeouts(total_s=0.1))
        evidence = await send(sender, upstream, request(), Silent(length=5))

        assert isinstance(evidence, NotSent) and evidence.cause == "caller-broke"
        assert recorder.connections == 0


async def test_an_answer_before_anything_was_sent_is_not_the_writes() -> None:
    """An upstream that spoke first has not answered this request: nothing is sent, and nothing was applied."""
    async with RecordingUpstream() as recorder:
        wire = await connect(("127.0.0.1", recorder.port), None)
        deadline = BootClock().after(20)
        upstream = upstream_at(recorder.port)
        pool = Pool(upstream, asyncio.get_running_loop().time)
        sending = _Sending(upstream, request(), None, Given(b"{}"), deadline)
        attempt = _Attempt(pool, wire, sending, _Outgoing(b"{}", None), BootClock())
        wire.on_data(OK)
        evidence = await attempt.run()
        attempt.stop()

        assert isinstance(evidence, NotSent) and evidence.cause == "unreachable"
        assert recorder.receiving == 0


@pytest.mark.parametrize("method", ["DELETE", "GET", "OPTIONS", "LINK"])
async def test_a_body_where_none_is_expected_is_the_connections_last(sender: HttpSender, method: str) -> None:
    """An upstream that does not read it takes it for the next request: it is told to close, and not used again."""
    async with RecordingUpstream() as recorder:
        for _ in range(2):
            reply = await send(sender, upstream_at(recorder.port), request(method), Given(b"PUT /x", whole=True))
            assert isinstance(reply, Reply)
            await reply.read_small(1000)
            reply.close()

        assert recorder.connections == 2
        assert [seen.values("connection") for seen in recorder.seen] == [["close"], ["close"]]


async def test_a_half_sent_body_is_never_completed_after_the_deadline() -> None:
    """The deadline passes between two pieces: the connection is aborted, the upstream never holds a whole request."""
    clock = SetClock()
    sender = HttpSender(clock)

    class Turning(Given):
        async def read(self) -> bytes:
            piece = await super().read()
            if piece == b"second":
                clock.passed = True
            return piece

    async with RecordingUpstream() as recorder:
        body = Turning(b"first-", b"second", length=12)
        evidence = await send(sender, upstream_at(recorder.port), request(), body)
        await recorder.until(lambda: bool(recorder.partial))

        assert isinstance(evidence, NoReply) and evidence.cause == "timeout"
        assert recorder.seen == []
        assert recorder.partial[0].endswith(b"first-")
    sender.close()


async def test_a_body_that_breaks_off_leaves_no_whole_request(sender: HttpSender) -> None:
    """Before the first byte nothing was sent; after it the upstream gets no whole request and the outcome is open."""
    async with RecordingUpstream() as recorder:
        gone = CallerGone("gone")
        before = await send(sender, upstream_at(recorder.port), request(), Given(gone, length=5))
        within = await send(sender, upstream_at(recorder.port), request(), Given(b"ab", gone, length=5))
        await recorder.until(lambda: bool(recorder.partial))

        assert isinstance(before, NotSent) and before.cause == "caller-broke"
        assert isinstance(within, NoReply) and within.cause == "caller-broke"
        assert recorder.seen == []


async def test_a_refused_connection_proves_that_nothing_was_sent(sender: HttpSender) -> None:
    """Nobody listens: not sent, with the reason."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]

    evidence = await send(sender, upstream_at(port), request(), Given(whole=True))

    assert isinstance(evidence, NotSent) and evidence.cause == "unreachable"


async def test_a_name_without_an_address_proves_that_nothing_was_sent(sender: HttpSender) -> None:
    """No such host: not sent."""
    evidence = await send(sender, upstream_at(80, host="nowhere.invalid"), request(), Given(whole=True))

    assert isinstance(evidence, NotSent) and evidence.cause == "unreachable"


async def test_an_early_answer_stops_the_upload(sender: HttpSender) -> None:
    """The upstream refuses a large upload before it is through: its answer counts, the connection is not used again."""

    async def refuse(_: Seen, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig")
        await writer.drain()

    class Endless(Given):
        async def read(self) -> bytes:
            return b"x" * 65_536

    async with RecordingUpstream(before_body=refuse) as recorder:
        reply = await send(sender, upstream_at(recorder.port), request("POST"), Endless())

        assert isinstance(reply, Reply)
        assert reply.status == 413
        assert await reply.read_small(1000) == (b"big", True)
        reply.close()
        recorder.before_body = None
        again = await send(sender, upstream_at(recorder.port), request(), Given(b"{}", whole=True))
        assert isinstance(again, Reply)
        again.close()
        assert [seen.raw.startswith(b"PUT ") for seen in recorder.seen] == [True]
        assert recorder.connections == 2


async def test_an_answer_that_is_not_whole_in_time_is_no_reply(sender: HttpSender) -> None:
    """`timeouts.total` ends the wait; the request was sent once."""

    async def never(_: Seen, writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    async with RecordingUpstream(answer=never) as recorder:
        upstream = upstream_at(recorder.port, timeouts=Timeouts(total_s=0.2, late_s=0.2))
        overdue = await send(sender, upstream, request(), Given(whole=True))

        assert isinstance(overdue, Overdue) and overdue.evidence.cause == "timeout"
        assert len(recorder.seen) == 1
        assert await overdue.listen(100) is None


@pytest.mark.parametrize(("keep", "body"), [(11, b'{"ok":true}'), (10, None)], ids=["small enough", "too large"])
async def test_an_answer_that_comes_late_is_still_heard(sender: HttpSender, keep: int, body: bytes | None) -> None:
    """After `timeouts.total` the connection is read on for `timeouts.late`; only a whole answer counts."""
    release = asyncio.Event()

    async def late(_: Seen, writer: asyncio.StreamWriter) -> None:
        await release.wait()
        writer.write(OK)

    async with RecordingUpstream(answer=late) as recorder:
        upstream = upstream_at(recorder.port, timeouts=Timeouts(total_s=0.2, late_s=10))
        overdue = await send(sender, upstream, request(), Given(whole=True))
        release.set()

        assert isinstance(overdue, Overdue)
        late_answer = await overdue.listen(keep)
        assert late_answer is not None
        assert (late_answer.status, late_answer.body) == (200, body)
        assert late_answer.headers[0] == (b"Content-Type", b"application/json")


async def test_who_only_listens_for_a_late_answer_keeps_nobody_out(sender: HttpSender) -> None:
    """It counts for `limits.connections` no more; of more than so many the oldest is given up."""

    async def never(seen: Seen, writer: asyncio.StreamWriter) -> None:
        if seen.line.startswith("PUT "):
            await asyncio.Event().wait()
        writer.write(OK)

    async with RecordingUpstream(answer=never) as recorder:
        times = Timeouts(connect_s=20.0, total_s=0.2, late_s=600.0)
        upstream = upstream_at(recorder.port, limits=Limits(connections=1), timeouts=times)
        listening = []
        for _ in range(2):
            overdue = await send(sender, upstream, request(), Given(whole=True))
            assert isinstance(overdue, Overdue)
            listening.append(asyncio.ensure_future(overdue.listen(100)))
        answered = await send(sender, replace(upstream, timeouts=Timeouts()), request("POST"), Given(whole=True))

        assert isinstance(answered, Reply)
        answered.close()
        assert await listening[0] is None
        assert not listening[1].done()
        listening[1].cancel()


async def test_no_more_connections_than_the_limit(sender: HttpSender) -> None:
    """Requests beyond `limits.connections` wait for a connection to come back, and give up unsent."""
    async with RecordingUpstream() as recorder:
        upstream = upstream_at(recorder.port, limits=Limits(connections=1), timeouts=Timeouts(connect_s=0.2))
        first = await send(sender, upstream, request(), Given(whole=True))
        assert isinstance(first, Reply)

        refused = await send(sender, upstream, request(), Given(whole=True))
        waiting = asyncio.ensure_future(send(sender, upstream, request(), Given(whole=True)))
        await first.read_small(1000)
        first.close()
        second = await waiting

        assert isinstance(refused, NotSent) and "busy" in refused.detail
        assert isinstance(second, Reply)
        second.close()
        assert recorder.connections == 1


async def test_what_is_not_fenced_is_not_sent_by_former_policies(sender: HttpSender) -> None:
    """They may have changed while it waited for a connection; a write that was admitted ends as it would."""
    async with RecordingUpstream() as recorder:
        upstream = upstream_at(recorder.port, term=Term())
        upstream.term.end()

        passed_on = await sender.pass_on(upstream, request(), Given(whole=True))
        sent = await send(sender, upstream, request(), Given(whole=True))

        assert isinstance(passed_on, NotSent) and isinstance(sent, Reply)
        sent.close()
        assert len(recorder.seen) == 1
