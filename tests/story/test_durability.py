"""Durability by choice: what was answered survives the death of the store, and of its machine.

Five writers send mail after mail, each from a box of its own under an epoch that rises with every mail.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from gateway.store.embedded import find_server
from tests.store.replicas import Replicated, replicated
from tests.store.server import Server
from tests.story.gateways import Gateway
from tests.story.mail import mailing, send, write_policy
from tests.story.mail_api import MailApi
from tests.until import until

pytestmark = [pytest.mark.promise("G1"), pytest.mark.promise("G4"), pytest.mark.slow]

_BOXES = tuple(f"box-{number}" for number in range(5))
# Of all writers together, between two deaths of the store.
_MAILS = 40


class Writers:
    """`answered`: each mail that was answered with 200, with its answer; `epochs`: the highest of those, by box."""

    def __init__(self, gateway: Gateway) -> None:
        self.answered: dict[tuple[str, int], bytes] = {}
        self.epochs: dict[str, int] = {}
        self._gateway = gateway

    @contextlib.asynccontextmanager
    async def at_work(self) -> AsyncIterator[None]:
        tasks = [asyncio.ensure_future(self._write(box)) for box in _BOXES]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def lead_to(self, gateway: Gateway) -> None:
        """From now on that one is asked."""
        self._gateway = gateway

    async def until_more(self) -> None:
        """Wait until so many more mails were answered."""
        wanted = len(self.answered) + _MAILS
        await until(lambda: len(self.answered) >= wanted)

    async def until_all_are_replayed(self) -> None:
        """Wait until every answered mail is answered again, byte for byte, by whoever has its box now."""
        left = dict(self.answered)

        async def all_are_replayed() -> bool:
            for (box, number), body in list(left.items()):
                again = await send(self._gateway, f"{box}-{number}", box=box, epoch=10_000)
                if (again.status, again.decision, again.body) == (200, "replayed", body):
                    del left[box, number]
            return not left

        await until(all_are_replayed)

    async def _write(self, box: str) -> None:
        for number in range(1, 10_000):
            answer = await send(self._gateway, f"{box}-{number}", box=box, epoch=number)
            if answer.status == 200:
                self.answered[box, number] = answer.body
                self.epochs[box] = number


async def _forgotten(gateway: Gateway, writers: Writers) -> list[str]:
    """The boxes whose highest epoch the store does not know any more."""
    shown = {box: await gateway.resource(f"mail/{box}") for box in _BOXES}
    return [box for box in _BOXES if int(str(shown[box].get("epoch", 0))) < writers.epochs.get(box, 0)]


@contextlib.asynccontextmanager
async def busy_disk(directory: Path) -> AsyncIterator[None]:
    """Somebody else has megabytes flushed, again and again: a server that flushes beside it answers first."""
    over = asyncio.Event()

    def write(file: int) -> None:
        os.pwrite(file, os.urandom(8 << 20), 0)
        os.fsync(file)

    async def keep_busy() -> None:
        file = os.open(directory / "busy", os.O_RDWR | os.O_CREAT)
        try:
            while not over.is_set():
                await asyncio.to_thread(write, file)
        finally:
            os.close(file)

    task = asyncio.ensure_future(keep_busy())
    try:
        yield
    finally:
        over.set()
        await task


@pytest.mark.parametrize("flushing", ["always", "everysec"])
async def test_a_store_that_is_killed_beside_a_busy_disk_has_all_that_was_answered(
    tmp_path: Path, flushing: str
) -> None:
    """kill -9 of the store, again and again while mails are written: every answer is given again, no mail is sent
    twice, and no epoch is forgotten."""
    (tmp_path / "store").mkdir()
    durable = ("--appendonly", "yes", "--appendfsync", flushing, "--save", "")
    server = Server(find_server(), tmp_path / "store", *durable)
    server.start()
    try:
        async with MailApi() as api:
            policies = write_policy(tmp_path, api.port)
            options = ("--durability", "disk")
            async with mailing(policies, tmp_path, server.url, "one", options=options) as (one,):
                writers = Writers(one)
                async with busy_disk(tmp_path), writers.at_work():
                    for _ in range(3):
                        await writers.until_more()
                        server.kill()
                        server.start()
                    await writers.until_more()
                forgotten = await _forgotten(one, writers)
                await writers.until_all_are_replayed()

            assert forgotten == []
            assert len(api.sent) == len(set(api.sent))
    finally:
        server.kill()


class Relay:
    """A name that leads to one server, and later to another: whoever is connected has to connect anew."""

    def __init__(self, port: int) -> None:
        self.port = 0
        self._to = port
        self._writers: set[asyncio.StreamWriter] = set()

    def lead_to(self, port: int) -> None:
        self._to = port
        for writer in self._writers:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            there, back = await asyncio.open_connection("127.0.0.1", self._to)
        except OSError:
            writer.transport.abort()
            return
        self._writers |= {writer, back}
        await asyncio.gather(_pass_on(reader, back), _pass_on(there, writer))
        self._writers -= {writer, back}


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
    writer.transport.abort()


@contextlib.asynccontextmanager
async def relayed(pair: Replicated) -> AsyncIterator[Relay]:
    relay = Relay(pair.primary.port)
    server = await asyncio.start_server(relay.serve, "127.0.0.1", 0)
    relay.port = server.sockets[0].getsockname()[1]
    try:
        yield relay
    finally:
        server.close()


async def test_a_replica_that_takes_over_has_all_that_was_answered(tmp_path: Path) -> None:
    """The primary is killed while mails are written, and an operator leads the gateways to its replica: every answer is
    given again, no mail is sent twice, no epoch is forgotten, and nothing has to be accepted."""
    with replicated(tmp_path / "pair") as pair:
        async with relayed(pair) as relay, MailApi() as api:
            policies = write_policy(tmp_path, api.port)
            # The replica that has taken over has none of its own.
            url, options = f"redis://127.0.0.1:{relay.port}", ("--durability", "replica:1")
            async with mailing(policies, tmp_path, url, "one", options=options) as (one,):
                writers = Writers(one)
                async with writers.at_work():
                    await writers.until_more()
                    pair.primary.stop()
                    pair.replica.ask("REPLICAOF", "NO", "ONE")
                    relay.lead_to(pair.replica.port)
            await _check_without_replicas(policies, tmp_path, url, writers)

            assert len(api.sent) == len(set(api.sent))


async def _check_without_replicas(policies: Path, directory: Path, url: str, writers: Writers) -> None:
    """Until there is a new one, a gateway that asks for none is all that can write."""
    async with mailing(policies, directory, url, "later") as (later,):
        forgotten = await _forgotten(later, writers)
        writers.lead_to(later)
        await writers.until_all_are_replayed()

    assert forgotten == []
