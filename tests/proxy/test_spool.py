"""Bodies that are read before they are forwarded: whole, fed once in order, on disk where they are large, and gone."""

import asyncio
import contextlib
import gc
import hashlib
import os
import re
import resource
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.core.faults import BodyTooLarge, CallerGone, NoRoom
from gateway.flow.clock import BootClock
from gateway.proxy.body import IncomingBody
from gateway.proxy.spool import Spool
from gateway.upstream.sender import HttpSender, Reply
from tests.proxy.arriving import Feed, arriving, largest_file
from tests.recording import RecordingUpstream
from tests.until import until
from tests.upstream.given import request as asked
from tests.upstream.given import send, upstream_at

IN_MEMORY = 64 << 10
# More than any buffer on the way holds: it cannot be here before somebody reads it.
LARGE = bytes(range(256)) * (3 << 12)
_READ_BACK_AT_MOST = 256 << 10


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The temporary directory, this test's own."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


@pytest.fixture
def on_disk(directory: Path) -> Callable[[], int]:
    """How many files this process has open in the temporary directory, with or without a name."""

    def count() -> int:
        opened = 0
        for descriptor in Path("/proc/self/fd").iterdir():
            with contextlib.suppress(OSError):
                opened += descriptor.readlink().is_relative_to(directory)
        return opened

    return count


async def _read(body: IncomingBody) -> list[bytes]:
    pieces = []
    while piece := await body.read():
        pieces.append(piece)
    return pieces


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
@pytest.mark.parametrize("size", [0, 1, IN_MEMORY, IN_MEMORY + 1, len(LARGE)])
async def test_a_body_is_fed_and_kept_whole(chunked: bool, size: int, on_disk: Callable[[], int]) -> None:
    """In memory up to the limit and not a byte further; its length is known, and it is read as often as needed."""
    feed = Feed()
    async with arriving(None if chunked else size) as arrived:
        body, sent = arrived.body, LARGE[:size]
        whole = await arrived.spool(sent, feed, IN_MEMORY)

        kept = sent if size <= IN_MEMORY else None
        assert (feed.fed, whole, body.take_buffered()) == (sent, kept, kept)
        assert (body.length, body.is_read, on_disk()) == (size, True, int(kept is None))
        for _ in range(3):
            pieces = await _read(body)
            assert (b"".join(pieces), await body.read(), body.rewind()) == (sent, b"", True)
            assert kept is not None or max(len(piece) for piece in pieces) <= _READ_BACK_AT_MOST
        body.close()


async def test_a_body_that_is_here_stays_in_memory(on_disk: Callable[[], int]) -> None:
    """What a rule has read, or what came with the head, is fed as it is, however small the room."""
    async with arriving(3) as arrived:
        await arrived.send(b"abc")
        await until(lambda: arrived.body.is_read)
        assert await arrived.body.spool(buffered := Feed(), 0) == b"abc"
    async with arriving(None) as arrived:
        sending = asyncio.ensure_future(arrived.send(LARGE))
        await arrived.body.hold(len(LARGE))
        await sending
        assert await arrived.body.spool(held := Feed(), 0) == LARGE

    assert (buffered.fed, held.fed, on_disk()) == (b"abc", LARGE, 0)


async def test_what_is_on_disk_is_fed_once_more(on_disk: Callable[[], int]) -> None:
    """A rule has read it, and its intent's fingerprint is taken of it: the connection has nothing left to give."""
    async with arriving(len(LARGE)) as arrived:
        await arrived.spool(LARGE, lambda piece: None, IN_MEMORY)

        assert await arrived.body.spool(feed := Feed(), IN_MEMORY) is None
        assert (feed.fed, b"".join(await _read(arrived.body))) == (LARGE, LARGE)
        arrived.body.close()


async def test_a_body_that_is_not_kept_cannot_be_read_again() -> None:
    """A body that flows through has one reading, and says so."""
    async with arriving(3) as arrived:
        await arrived.send(b"abc")

        assert (await _read(arrived.body), arrived.body.rewind()) == ([b"abc"], False)


@pytest.mark.parametrize("in_memory", [IN_MEMORY, len(LARGE)], ids=["on disk", "in memory"])
async def test_a_large_body_is_digested_beside_the_event_loop(in_memory: int) -> None:
    """Others do not wait for it."""
    feed = Feed()
    async with arriving(len(LARGE)) as arrived:
        await arrived.spool(LARGE, feed, in_memory)
        arrived.body.close()

    assert feed.fed == LARGE
    assert threading.get_ident() not in feed.threads


async def test_a_file_never_has_a_name(directory: Path, on_disk: Callable[[], int]) -> None:
    """A gateway that is killed leaves none behind; one that ends a request closes its file, once or twice."""
    async with arriving(len(LARGE)) as arrived:
        await arrived.spool(LARGE, Feed(), IN_MEMORY)
        assert (on_disk(), list(directory.iterdir())) == (1, [])

        arrived.body.close()
        arrived.body.close()
        await until(lambda: on_disk() == 0)
        with pytest.raises(CallerGone):
            await arrived.body.read()


async def test_a_body_that_nobody_closed_goes_with_its_request(on_disk: Callable[[], int]) -> None:
    """Without a warning: it is the backstop."""
    async with arriving(len(LARGE)) as arrived:
        await arrived.spool(LARGE, Feed(), IN_MEMORY)
        assert on_disk() == 1

    del arrived

    def is_gone() -> bool:
        gc.collect()
        return on_disk() == 0

    await until(is_gone)


async def test_a_caller_is_read_as_fast_as_the_disk_takes_it() -> None:
    """While a batch is being written, what comes waits in buffers of a fixed size, and then at the caller."""
    feed = Feed(stops_at=1)
    async with arriving(16 * len(LARGE)) as arrived:
        spooling = asyncio.ensure_future(arrived.body.spool(feed, IN_MEMORY))
        sending = asyncio.ensure_future(arrived.send(16 * LARGE))
        await until(feed.stopped.is_set)
        transport = arrived.raw.transport
        assert isinstance(transport, asyncio.ReadTransport)
        await until(lambda: not transport.is_reading())

        assert arrived.raw.content.total_bytes - len(feed.fed) < 1 << 20
        feed.go_on.set()
        assert (await spooling, await sending) == (None, None)
        assert arrived.body.length == 16 * len(LARGE)
        arrived.body.close()


@pytest.mark.parametrize("limit", [IN_MEMORY // 2, len(LARGE) - 1], ids=["in memory", "on disk"])
@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
async def test_a_body_over_the_stream_limit_leaves_nothing(
    limit: int, chunked: bool, on_disk: Callable[[], int]
) -> None:
    """Wherever the limit is passed."""
    async with arriving(None if chunked else len(LARGE)) as arrived:
        arrived.body.restrict(limit)
        sending = asyncio.ensure_future(arrived.send(LARGE))
        with pytest.raises(BodyTooLarge, match=str(limit)):
            await arrived.body.spool(Feed(), IN_MEMORY)
        await arrived.body.drop(len(LARGE), 20)
        await sending

        await until(lambda: on_disk() == 0)


@pytest.mark.parametrize("way", ["closes", "resets", "sends a faulty chunk"])
async def test_a_caller_that_breaks_its_body_off_leaves_nothing(way: str, on_disk: Callable[[], int]) -> None:
    """The file is gone, and whoever waited for the body is told."""
    async with arriving(None) as arrived:
        spooling = asyncio.ensure_future(arrived.body.spool(Feed(), IN_MEMORY))
        await arrived.client.send(b"%x\r\n%b\r\n" % (len(LARGE), LARGE))
        await until(lambda: on_disk() == 1)
        if way == "closes":
            arrived.client.writer.close()
        elif way == "resets":
            arrived.client.writer.transport.abort()
        else:
            await arrived.client.send(b"not a length\r\n")
        with pytest.raises(CallerGone):
            await spooling

        await until(lambda: on_disk() == 0)


async def test_a_full_disk_is_freed_at_once(directory: Path, on_disk: Callable[[], int]) -> None:
    """What had been written makes room before anybody is told; the rest of the body can be taken and dropped."""
    async with arriving(len(LARGE)) as arrived:
        sending = asyncio.ensure_future(arrived.send(LARGE))
        with largest_file((1 << 20) + 1), pytest.raises(NoRoom, match=f"{re.escape(str(directory))} .*TMPDIR"):
            await arrived.body.spool(Feed(), IN_MEMORY)
        assert on_disk() == 0

        await arrived.body.drop(len(LARGE), 20)
        await sending
        assert arrived.body.is_read


@pytest.mark.parametrize("part", ["_LEFT_FREE", "_FILES_LEFT_FREE"], ids=["room", "files"])
async def test_bodies_leave_the_last_of_the_disk_to_the_policies(
    part: str, directory: Path, on_disk: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who fills it with uploads must not keep workers from hearing that its key was withdrawn."""
    monkeypatch.setattr(f"gateway.proxy.spool.{part}", 1 << 62)
    monkeypatch.setattr("gateway.proxy.spool._PART_LEFT_FREE", 1)
    if part == "_FILES_LEFT_FREE" and not os.statvfs(directory).f_files:
        # It counts no free files (btrfs), so that none can be left.
        pytest.skip("this file system makes files as they are wanted")
    with pytest.raises(NoRoom, match=r"left to the policies.*TMPDIR"):
        await Spool.open()
    assert on_disk() == 0


async def test_without_a_temporary_directory_there_is_no_room(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have been deleted, or never have been writable."""
    monkeypatch.setattr(tempfile, "tempdir", str(directory / "gone"))
    async with arriving(len(LARGE)) as arrived:
        sending = asyncio.ensure_future(arrived.send(LARGE))
        with pytest.raises(NoRoom, match=r"gone .*No such file"):
            await arrived.body.spool(Feed(), IN_MEMORY)
        await arrived.body.drop(len(LARGE), 20)
        await sending


async def test_a_request_that_is_cancelled_while_it_waits_for_its_caller_leaves_nothing(
    on_disk: Callable[[], int],
) -> None:
    """Its file is closed beside the event loop."""
    async with arriving(len(LARGE)) as arrived:
        spooling = asyncio.ensure_future(arrived.body.spool(Feed(), IN_MEMORY))
        await arrived.send(LARGE[:-1])
        await until(lambda: arrived.raw.content.total_bytes == len(LARGE) - 1 and on_disk() == 1)
        spooling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await spooling

        await until(lambda: on_disk() == 0)


@pytest.mark.parametrize("batch", [0, 1, 2])
async def test_a_request_that_is_cancelled_at_the_disk_leaves_nothing(batch: int, on_disk: Callable[[], int]) -> None:
    """The thread that has the file in its hands ends with it; nobody closes the descriptor under it."""
    feed = Feed(stops_at=batch)
    async with arriving(len(LARGE)) as arrived:
        spooling = asyncio.ensure_future(arrived.body.spool(feed, IN_MEMORY))
        sending = asyncio.ensure_future(arrived.send(LARGE))
        await until(feed.stopped.is_set)
        spooling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await spooling
        assert on_disk() == 1
        feed.go_on.set()

        await until(lambda: on_disk() == 0)
        assert len(feed.pieces) == batch + 1
        sending.cancel()


async def test_a_feed_that_fails_ends_the_spooling(on_disk: Callable[[], int]) -> None:
    """Its error is the caller's to see."""

    def fail(_: bytes) -> None:
        raise ZeroDivisionError

    async with arriving(len(LARGE)) as arrived:
        sending = asyncio.ensure_future(arrived.send(LARGE))
        with pytest.raises(ZeroDivisionError):
            await arrived.body.spool(fail, IN_MEMORY)
        sending.cancel()

        await until(lambda: on_disk() == 0)


async def test_what_the_disk_lost_is_no_end_of_a_body() -> None:
    """A sender that took it for the end would have sent a short body as a whole one."""
    spool = await Spool.open()
    await spool.append(b"abcdef", lambda _: None)
    os.ftruncate(spool._descriptor, 4)

    assert await spool.read(0) == b"abcd"
    with pytest.raises(CallerGone, match="shorter on the disk"):
        await spool.read(4)
    spool.close()


async def test_what_the_disk_does_not_give_back_breaks_the_body_off(directory: Path) -> None:
    """The sender knows what to do with a body that ends before its end."""
    spool = await Spool.open()
    await spool.append(b"abcdef", lambda _: None)
    with (directory / "not to be read").open("wb") as other:
        os.dup2(other.fileno(), spool._descriptor)

    with pytest.raises(CallerGone, match="cannot be read back"):
        await spool.read(0)
    spool.close()


async def test_a_closed_file_is_not_written(on_disk: Callable[[], int]) -> None:
    """Its descriptor may be another file's by then; nothing is fed either."""
    spool, feed = await Spool.open(), Feed()
    spool.close()
    await until(lambda: on_disk() == 0)

    with pytest.raises(CallerGone):
        await spool.append(b"abcdef", feed)
    assert feed.pieces == []


@pytest.mark.parametrize("size", [1_000, len(LARGE)], ids=["in memory", "on disk"])
async def test_a_chunked_body_is_forwarded_with_its_length_as_often_as_needed(size: int) -> None:
    """The upstream sees the same bytes at each attempt."""
    sender = HttpSender(BootClock())
    async with RecordingUpstream() as recorder, arriving(None) as arrived:
        await arrived.spool(LARGE[:size], Feed(), IN_MEMORY)
        for _ in range(2):
            reply = await send(sender, upstream_at(recorder.port), asked(), arrived.body)
            assert isinstance(reply, Reply)
            assert await reply.read_small(1_000) == (b'{"ok":true}', True)
            reply.close()
            assert arrived.body.rewind()
        arrived.body.close()
    sender.close()

    assert [seen.body for seen in recorder.seen] == [LARGE[:size]] * 2
    assert [seen.values("Content-Length") for seen in recorder.seen] == [[str(size)]] * 2
    assert [seen.values("Transfer-Encoding") for seen in recorder.seen] == [[]] * 2


class _Memory:
    """The largest resident set seen, in bytes, beyond what it was at first."""

    def __init__(self) -> None:
        self._page = resource.getpagesize()
        self._at_first = self._now()
        self.growth = 0

    def note(self) -> None:
        self.growth = max(self.growth, self._now() - self._at_first)

    def _now(self) -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * self._page


async def _up_and_back(size: int, memory: _Memory) -> None:
    """One body up to the disk and back again; what came back is what was digested on the way."""
    piece = os.urandom(128 << 10)
    there, back = hashlib.blake2b(), hashlib.blake2b()

    def feed(batch: bytes) -> None:
        there.update(batch)
        memory.note()

    async with arriving(size) as arrived:
        spooling = asyncio.ensure_future(arrived.body.spool(feed, IN_MEMORY))
        for _ in range(size // len(piece)):
            await arrived.client.send(piece)
        assert await spooling is None
        while read := await arrived.body.read():
            back.update(read)
            memory.note()
        assert (arrived.body.length, back.digest()) == (size, there.digest())
        arrived.body.close()


@pytest.mark.slow
@pytest.mark.timeout(1200)
async def test_twenty_bodies_of_500_mib_cost_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once: a batch and a few buffers for each, however large they are."""
    monkeypatch.undo()
    if shutil.disk_usage(tempfile.gettempdir()).free < 11 << 30:
        pytest.skip(f"needs 11 GiB of room in {tempfile.gettempdir()}")
    memory = _Memory()

    await asyncio.gather(*(_up_and_back(500 << 20, memory) for _ in range(20)))

    print(f"the resident set grew by {memory.growth / (1 << 20):.0f} MiB")
    assert memory.growth < 64 << 20
