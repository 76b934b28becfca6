"""What signals ask of a gateway."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from gateway.log import Log
from gateway.serve.signals import Signals
from tests.until import until

HANDLED = (signal.SIGHUP, signal.SIGTERM, signal.SIGINT)


@asynccontextmanager
async def listening() -> AsyncIterator[Signals]:
    """This process is the gateway; afterwards it ends at these signals again."""
    loop = asyncio.get_running_loop()
    try:
        yield Signals()
    finally:
        for number in HANDLED:
            loop.remove_signal_handler(number)


def send(number: signal.Signals) -> None:
    os.kill(os.getpid(), number)


async def test_a_reload_before_there_is_anything_to_reload_does_nothing() -> None:
    """The files are still to be read; from then on SIGHUP reads them again."""
    async with listening() as signals:
        send(signal.SIGHUP)
        await asyncio.sleep(0)
        reloads: list[None] = []
        signals.on_reload = lambda: reloads.append(None)

        send(signal.SIGHUP)

        await until(lambda: bool(reloads))
        assert not signals.stop.is_set()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=lambda number: number.name)
async def test_the_first_signal_stops_and_the_second_hurries(number: signal.Signals) -> None:
    """Whoever does not want to wait says so twice; the time for callers to leave ends too."""
    async with listening() as signals:
        hurried: list[None] = []
        signals.on_hurry = lambda: hurried.append(None)

        send(number)
        await signals.stop.wait()
        assert not hurried
        async with asyncio.TaskGroup() as draining:
            draining.create_task(signals.drained(600.0, Log(level="error")))
            send(number)

        assert hurried == [None]


async def test_without_a_time_to_drain_nothing_is_waited_for() -> None:
    """Nor said."""
    async with listening() as signals:
        await signals.drained(0, Log())
