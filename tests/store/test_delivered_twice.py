"""An admission that a proxy before the store delivers once more, after the same was asked over another connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from gateway.store.fence import FenceStore
from gateway.store.views.intent_views import intents
from gateway.store.views.resource_views import tickets
from tests.listening import Listening
from tests.proxy.mail import proof
from tests.raw import ask as asked
from tests.stack import stack
from tests.store.fences import RESOURCE, admitted, bare, ended, opened, rule, settled
from tests.until import until

_PIECE = 65536
POLICY = """
upstream: reports
url: http://localhost:{port}
timeouts: {{connect: 1s, total: 1s}}
writes:
  - name: write
    match: PUT /report/{{id}}
    resource: report/{{path.id}}
    authority: header
    fence: {{after_unknown: hold}}
"""


class Proxy(Listening):
    """Before the store's socket. What is asked once it `holds` stays here, and its caller is cut off."""

    def __init__(self, url: str) -> None:
        self.port = 0
        self.holds: bytes | None = None
        self._path = urlsplit(url).path
        self._held = b""

    async def deliver(self) -> None:
        """What was held, over the connection's other end; its answer has nobody to go to."""
        assert self._held
        behind, ahead = await asyncio.open_unix_connection(self._path)
        ahead.write(self._held)
        await behind.read(1)
        ahead.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        behind, ahead = await asyncio.open_unix_connection(self._path)
        back = asyncio.ensure_future(self._back(behind, writer))
        try:
            while piece := await reader.read(_PIECE):
                if self.holds is not None and self.holds in piece:
                    self.holds, self._held = None, piece
                    return
                ahead.write(piece)
        except OSError:
            return
        finally:
            back.cancel()
            ahead.transport.abort()
            writer.transport.abort()

    async def _back(self, behind: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while piece := await behind.read(_PIECE):
                writer.write(piece)


@pytest.fixture
async def way(store_url: str) -> AsyncIterator[Proxy]:
    async with Proxy(store_url) as way:
        yield way


def url_of(way: Proxy) -> str:
    return f"redis://127.0.0.1:{way.port}"


async def _is_over(store: FenceStore) -> bool:
    return await tickets(store, RESOURCE) == ()


async def test_what_was_abandoned_is_ended_again(
    way: Proxy, store: FenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It comes back behind the end of its write, which had another ticket, and is never unknown."""
    monkeypatch.setattr("gateway.store.abandoned._GRACE_S", 0.0)
    write = bare(42, of=rule(total_s=0.5))
    async with opened(url_of(way)) as asking:
        await ended(asking, bare(42), "applied")
        way.holds = b"admit"
        twice = await admitted(asking, write)
        assert twice.asked_twice
        await asking.abandon(write, twice.ticket)
        await settled(asking, await admitted(asking, write), "applied")

        await way.deliver()

        await until(lambda: _is_over(store))
        assert (await intents(store, "unknown", None)).items == ()


async def test_its_write_is_forwarded_once_all_the_same(way: Proxy, store: FenceStore, tmp_path: Path) -> None:
    """And `after_unknown: hold` holds nothing for it."""
    async with stack(url_of(way), tmp_path, POLICY) as gate:
        first = await asked(gate.port, "PUT", "/report/8", *proof(), body=b"{}")
        way.holds = b"admit"
        told = await asked(gate.port, "PUT", "/report/7", *proof(), body=b"{}")
        await way.deliver()
        await until(lambda: _is_over(store))
        after = await asked(gate.port, "PUT", "/report/7", *proof(), body=b"{}")

        assert [one.decision for one in (first, told, after)] == ["forwarded"] * 3
        assert len(gate.upstream.seen) == 3
