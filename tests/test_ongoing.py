"""Work that goes on whatever a turn of it meets, and that ends when it is told to."""

import asyncio
import contextlib
import itertools
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.ongoing import ONGOING, ongoing, stop
from tests.until import until

_PATIENCE_S = 20.0


@pytest.fixture
async def told() -> AsyncIterator[list[dict[str, Any]]]:
    """What the event loop's exception handler was told."""
    loop, contexts = asyncio.get_running_loop(), []
    loop.set_exception_handler(lambda _, context: contexts.append(context))
    yield contexts
    loop.set_exception_handler(None)


class Work:
    """Fails so many times, then goes on."""

    def __init__(self, failures: int) -> None:
        self.begun: list[float] = []
        self.goes_on = asyncio.Event()
        self._failures = failures

    async def __call__(self) -> None:
        self.begun.append(asyncio.get_running_loop().time())
        if len(self.begun) <= self._failures:
            raise ValueError("a value of somebody's")
        self.goes_on.set()
        await asyncio.Event().wait()


async def test_a_bug_is_told_and_the_work_begins_anew(
    told: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a pause, so that a bug that stays is no tight loop; whoever asked hears of each."""
    monkeypatch.setattr("gateway.ongoing._PAUSES_S", (0.02, 0.04))
    work, counted = Work(3), list[None]()

    task = ongoing("sweeping", work, lambda: counted.append(None))
    async with asyncio.timeout(_PATIENCE_S):
        await work.goes_on.wait()
    await stop(task)

    assert [(context[ONGOING], type(context["exception"])) for context in told] == [("sweeping", ValueError)] * 3
    assert len(counted) == 3
    paused = [after - before for before, after in itertools.pairwise(work.begun)]
    assert all(pause >= least for pause, least in zip(paused, (0.019, 0.039, 0.039), strict=True))
    assert task.cancelled()


async def test_work_that_ends_by_itself_has_ended(told: list[dict[str, Any]]) -> None:
    """It is not begun anew, and nothing is told."""

    async def work() -> None:
        await asyncio.sleep(0)

    async with asyncio.timeout(_PATIENCE_S):
        await ongoing("once", work)

    assert told == []


async def test_a_cancellation_ends_it_also_in_its_pause(told: list[dict[str, Any]]) -> None:
    """At once; what was cancelled is no bug."""
    work = Work(1000)
    task = ongoing("sweeping", work)
    await until(lambda: len(told) == 1)

    async with asyncio.timeout(_PATIENCE_S):
        await stop(task)

    assert task.cancelled() and len(told) == 1


async def test_a_bug_on_the_way_out_keeps_nobody(told: list[dict[str, Any]]) -> None:
    """What is raised in the place of a cancellation is told, and the work ends all the same."""

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError

    task = ongoing("sweeping", work)
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait({task}, timeout=_PATIENCE_S)

    assert task.cancelled() and len(told) == 1


async def test_what_it_waited_for_being_cancelled_is_a_bug(
    told: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody has cancelled the work itself: it begins anew like any other that failed."""
    monkeypatch.setattr("gateway.ongoing._PAUSES_S", (0.0,))
    begun, goes_on = list[None](), asyncio.Event()

    async def work() -> None:
        begun.append(None)
        if len(begun) == 1:
            answer = asyncio.get_running_loop().create_future()
            answer.cancel()
            await answer
        goes_on.set()
        await asyncio.Event().wait()

    task = ongoing("watching", work)
    async with asyncio.timeout(_PATIENCE_S):
        await goes_on.wait()
    await stop(task)

    assert [type(context["exception"]) for context in told] == [asyncio.CancelledError]
    assert task.cancelled()


async def test_a_cancellation_that_is_swallowed_comes_again() -> None:
    """As asyncio.wait_for does it before Python 3.12."""
    cancelled = list[None]()

    async def work() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        cancelled.append(None)
        await asyncio.Event().wait()

    task = ongoing("listening", work)
    await asyncio.sleep(0)
    async with asyncio.timeout(_PATIENCE_S):
        await stop(task)

    assert task.cancelled() and len(cancelled) == 1
