"""Bugs that no caller hears of: a line of the log, without the values that were handled, and a count."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from gateway.flow.tasks import count_fault
from gateway.log import Log
from gateway.ongoing import ongoing, stop
from gateway.serve.faults import report_faults
from tests.until import until

_SECRET = "hunter2"


class Told:
    """What the log was told, and what was counted."""

    def __init__(self, log: Path) -> None:
        self.count = 0
        self._log = log

    def fault(self) -> None:
        self.count += 1

    def lines(self) -> list[dict[str, Any]]:
        assert _SECRET not in self._log.read_text()
        return [json.loads(line) for line in self._log.read_text().splitlines()]


@pytest.fixture
async def told(tmp_path: Path) -> AsyncIterator[Told]:
    found = Told(tmp_path / "log")
    with (tmp_path / "log").open("ab") as log:
        report_faults(Log("json", descriptor=log.fileno()), found)
        yield found
    asyncio.get_running_loop().set_exception_handler(None)


async def fail() -> None:
    raise ValueError(_SECRET)


def failing(_secret: str) -> None:
    raise ValueError(_SECRET)


async def test_work_beside_requests_is_named(told: Told) -> None:
    """With the kind and the place of its bug."""
    task = ongoing("sweeping", fail)
    await until(lambda: told.count == 1)
    await stop(task)

    (line,) = told.lines()
    assert (line["level"], line["task"], line["kind"]) == ("error", "sweeping", "ValueError")
    assert line["event"] == "background work failed by a bug; it begins anew"
    assert line["where"].startswith(f"{__file__}:")


async def test_a_task_that_nobody_awaited_is_told(told: Told) -> None:
    """asyncio itself would write to standard error, and the exception's own words with it."""
    await asyncio.wait({asyncio.get_running_loop().create_task(fail())})
    gc.collect()

    (line,) = told.lines()
    assert (line["event"], line["kind"], told.count) == ("a task failed by a bug", "ValueError", 1)


async def test_a_callback_is_told_without_its_arguments(told: Told) -> None:
    """asyncio's message has them."""
    asyncio.get_running_loop().call_soon(failing, _SECRET)
    await until(lambda: told.count == 1)

    (line,) = told.lines()
    assert (line["event"], line["kind"]) == ("a callback failed by a bug", "ValueError")


async def test_what_was_caught_and_logged_is_counted(told: Told) -> None:
    """The log has it already, in the words of whoever caught it."""
    count_fault(ValueError(_SECRET))

    assert (told.lines(), told.count) == ([], 1)


@pytest.mark.parametrize(
    ("error", "level", "count"),
    [(OSError(113, _SECRET), "warning", 0), (ValueError(_SECRET), "error", 1), (None, "error", 1)],
    ids=["the network's", "a bug in what reads it", "nothing was raised"],
)
async def test_what_a_connection_meets_is_no_bug(error: Exception | None, level: str, count: int, told: Told) -> None:
    """A host that cannot be reached is nothing to report; whatever else is raised there is."""
    context = {"message": _SECRET, "exception": error, "transport": object()}
    asyncio.get_running_loop().call_exception_handler({k: v for k, v in context.items() if v is not None})

    (line,) = told.lines()
    assert (line["level"], told.count) == (level, count)
