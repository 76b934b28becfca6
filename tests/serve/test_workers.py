"""The parent's side of its workers: whatever ends one, another takes its place."""

import asyncio
import sys
from pathlib import Path

import pytest

from gateway.core.address import Address
from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.serve.assignment import Assignment
from gateway.serve.workers import Workers
from tests.until import until


class NoRoom(ParentMetrics):
    """Cannot keep what a worker counted."""

    died = 0

    def worker_ended(self, pid: int) -> None:
        raise ValueError(f"the files of {pid} cannot be read")

    def worker_died(self) -> None:
        self.died += 1


async def test_a_worker_is_replaced_although_its_counts_are_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted is worth less than whoever carries the traffic. The log says what is lost."""
    monkeypatch.setattr(sys, "executable", "/bin/true")
    metrics = NoRoom(tmp_path)
    assignment = Assignment(Address("127.0.0.1", 0), "", "", 1.0, 1.0, "json", "info")
    with (tmp_path / "log").open("ab") as log:
        workers = Workers(1, lambda: assignment, {}, Log("json", descriptor=log.fileno()), metrics)
        workers.start()
        await until(lambda: metrics.died >= 2)
        await workers.stop(5)

    assert (tmp_path / "log").read_text().count("cannot be read") >= 2


async def test_a_bug_in_starting_a_worker_is_no_end_of_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What failed once is tried again: nobody else would start another worker."""
    monkeypatch.setattr(sys, "executable", "/bin/true")
    assignment = Assignment(Address("127.0.0.1", 0), "", "", 1.0, 1.0, "json", "info")
    asked, faults = list[None](), list[object]()

    def assigned() -> Assignment:
        asked.append(None)
        if len(asked) == 1:
            raise ValueError
        return assignment

    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context["exception"]))
    with (tmp_path / "log").open("ab") as log:
        workers = Workers(1, assigned, {}, Log("json", descriptor=log.fileno()), NoRoom(tmp_path))
        workers.start()
        await until(lambda: len(asked) >= 2)
        await workers.stop(5)
    asyncio.get_running_loop().set_exception_handler(None)

    assert [type(fault) for fault in faults] == [ValueError]
