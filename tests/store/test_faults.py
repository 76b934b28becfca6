"""A store that answers with an error, or not at all: writes fail closed, and it recovers by itself."""

import asyncio
from pathlib import Path

import pytest

from gateway.core.decision import Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.write import Admitted
from gateway.store.embedded import find_server
from tests.store.fences import admitted, ask, bare, opened
from tests.store.server import Server


class SpeaksErrors:
    """A server that answers TIME and the handshake, and everything else with one error."""

    def __init__(self, error: str) -> None:
        self.error = error

    async def __aenter__(self) -> str:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"redis://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                words = []
                for _ in range(int(line[1:])):
                    size = int((await reader.readline())[1:])
                    words.append((await reader.readexactly(size + 2))[:-2])
                writer.write(self._answer(words))
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    def _answer(self, words: list[bytes]) -> bytes:
        match words[0].upper():
            case b"TIME":
                return b"*2\r\n$10\r\n1800000000\r\n$1\r\n0\r\n"
            case b"SUBSCRIBE":
                return b"*3\r\n$9\r\nsubscribe\r\n$%d\r\n%b\r\n:1\r\n" % (len(words[1]), words[1])
            case b"EVALSHA" | b"EVAL":
                return f"-{self.error}\r\n".encode()
        return b"+OK\r\n"


@pytest.mark.parametrize(
    "error",
    [
        "LOADING the dataset is being read",
        "MISCONF cannot persist",
        "BUSY running a script",
        "NOAUTH Authentication required.",
        "READONLY You can't write against a read only replica.",
        "OOM command not allowed",
        "MASTERDOWN Link with MASTER is down",
        "ERR something else",
    ],
)
async def test_an_error_of_the_store_is_never_read_as_no_epoch_yet(error: str) -> None:
    """Every one of them is StoreUnavailable, and says what the store said."""
    async with SpeaksErrors(error) as url, opened(url, timeout_s=0.3) as store:
        with pytest.raises(StoreUnavailable) as raised:
            await ask(store, bare(42))

        assert error.split()[0] in str(raised.value) or "connection" in str(raised.value)


async def test_a_passing_error_passes(store_url: str) -> None:
    """LOADING ends while the call waits: its caller sees nothing of it."""
    loading = SpeaksErrors("LOADING the dataset is being read")
    async with loading as url, opened(url, timeout_s=5) as store:
        asking = asyncio.ensure_future(ask(store, bare(42)))
        await asyncio.sleep(0)
        loading.error = "MISCONF now it is another one"
        with pytest.raises(StoreUnavailable, match="MISCONF"):
            await asking


async def test_a_restarted_store_is_found_again_and_knows_its_epochs(tmp_path: Path) -> None:
    """kill -9 and start on the same append-only file while writes go on: no caller sees an error."""
    server = Server(find_server(), tmp_path, "--save", "", "--appendonly", "yes")
    server.start()
    try:
        async with opened(server.url, timeout_s=5) as store:
            await store.settle(await admitted(store, bare(42)), "applied", "")
            server.kill()
            asking = asyncio.ensure_future(ask(store, bare(42)))
            await asyncio.sleep(0)
            server.start()
            again = await asking
            older = await ask(store, bare(41))

            assert isinstance(again, Admitted)
            assert isinstance(older, Refused) and older.facts.highest_epoch == 42
    finally:
        server.kill()
