"""The parent's side of its workers: whatever ends one, another takes its place."""

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
