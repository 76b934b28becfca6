"""A load at a constant rate."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.bench.constant_rate import pace
from tests.bench.message import is_whole
from tests.bench.process import Failed

_RATE, _COUNT = 2_000.0, 100


class _Api(asyncio.Protocol):
    """Answers with this status, and stalls every answer by so many seconds."""

    def __init__(self, status: int, stall_s: float) -> None:
        self._answer = b"HTTP/1.1 %d X\r\nContent-Length: 0\r\n\r\n" % status
        self._stall_s = stall_s
        self._came = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._came += data
        if is_whole(self._came):
            self._came = b""
            asyncio.get_running_loop().call_later(self._stall_s, self._transport.write, self._answer)


@pytest.fixture
async def api(request: pytest.FixtureRequest) -> AsyncIterator[int]:
    """Its port."""
    server = await asyncio.get_running_loop().create_server(lambda: _Api(*request.param), "127.0.0.1", 0)
    yield server.sockets[0].getsockname()[1]
    server.close()


@pytest.mark.parametrize("api", [(200, 0.0)], indirect=True, ids=["at once"])
async def test_every_write_is_sent_and_timed(api: int) -> None:
    """None is left out, and none is answered before it was due."""
    paced = await pace(api, _RATE, _COUNT)

    assert len(paced.took_s) == len(paced.late_s) == _COUNT
    assert min(paced.took_s) > 0


@pytest.mark.parametrize("api", [(200, 0.1)], indirect=True, ids=["slow"])
async def test_waiting_for_a_connection_counts(api: int) -> None:
    """A server that holds every connection is not asked less: who came meanwhile has waited."""
    paced = await pace(api, _RATE, _COUNT)

    # Of a hundred that come within a twentieth of a second, those for whom no connection is free wait for two answers.
    assert max(paced.took_s) > 0.12
    assert max(paced.late_s) > 0.05


@pytest.mark.parametrize("api", [(503, 0.0)], indirect=True, ids=["refuses"])
async def test_refusals_are_no_measurement(api: int) -> None:
    """They are faster than writes."""
    with pytest.raises(Failed, match="100 of 100"):
        await pace(api, _RATE, _COUNT)
