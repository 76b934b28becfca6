"""Where a deliverer is watched."""

import socket

import pytest

from gateway.admin.watching import Delivering
from gateway.core.address import Address
from gateway.log import Log
from gateway.metrics.deliverer import DelivererMetrics
from gateway.serve.starting import StartRefused
from gateway.serve.watched import watched
from gateway.store.fence import FenceStore
from tests.raw import ask

LOG = Log("json", "error")


def delivering(store: FenceStore) -> Delivering:
    return Delivering(store, lambda: False, DelivererMetrics(()))


async def test_it_answers_until_it_is_left(store: FenceStore) -> None:
    """At the address that was given; then nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    async with watched(delivering(store), Address("127.0.0.1", port), None, LOG):
        answer = await ask(port, "GET", "/healthz")

    assert answer.status == 200
    with pytest.raises(ConnectionRefusedError):
        await ask(port, "GET", "/healthz")


async def test_without_an_address_nobody_listens(store: FenceStore) -> None:
    """It is not asked for."""
    async with watched(delivering(store), None, None, LOG):
        pass


async def test_an_address_that_is_taken_is_told(store: FenceStore) -> None:
    """Before anything is sent, with what to do."""
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(StartRefused, match=r"--metrics 127\.0\.0\.1:\d+ cannot be listened on: .* Give another address"),
    ):
        async with watched(delivering(store), Address("127.0.0.1", taken.getsockname()[1]), None, LOG):
            pass
