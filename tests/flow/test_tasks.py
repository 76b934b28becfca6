"""Tasks outlive who started them, and none is lost."""

import asyncio

from gateway.flow.tasks import Tasks


async def test_draining_waits_for_all() -> None:
    """Whatever was spawned has ended; nothing is kept of it."""
    tasks, ended = Tasks(), []

    async def work(name: str) -> None:
        await asyncio.sleep(0)
        ended.append(name)

    tasks.spawn(work("a"))
    tasks.spawn(work("b"))

    assert await tasks.drain(5) == 0
    assert ended == ["a", "b"]
    assert await tasks.drain(0) == 0


async def test_what_does_not_end_is_cancelled() -> None:
    """The number says how many were."""
    tasks, stopped = Tasks(), asyncio.Event()

    async def stuck() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    tasks.spawn(stuck())

    assert await tasks.drain(0) == 1
    await stopped.wait()
