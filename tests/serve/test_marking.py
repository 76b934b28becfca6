"""The parent's memory of its store outlives it, and a loss is counted and told once."""

import asyncio
from pathlib import Path
from typing import Any

from gateway.core.loss import Remembered
from gateway.flow.clock import BootClock
from gateway.log import Log
from gateway.metrics.parent import ParentMetrics
from gateway.serve.marking import Marking, begin_memory, teller
from gateway.store.connect import open_store
from tests.store.fences import PATIENCE_S


class Told:
    """Incidents, by their kind."""

    def __init__(self) -> None:
        self.kinds: list[str] = []

    def incident(self, kind: str) -> None:
        self.kinds.append(kind)


async def lived(store_url: str, directory: Path, log: Log) -> list[str]:
    """A parent that started, left a mark and ended; returns why it told of losses."""
    why: list[str] = []
    marking = Marking(directory, "bundled", why.append, log, may_forget=False)
    try:
        store = await open_store(
            store_url,
            on_wake=lambda _: None,
            timeout_s=PATIENCE_S,
            clock=BootClock(),
            incarnation=marking.incarnation,
        )
        await marking.incarnation.mark(store)
        await store.close()
    finally:
        marking.close()
    return why


async def test_the_next_parent_knows_what_the_last_one_knew(store_url: str, raw: Any, tmp_path: Path) -> None:
    """It looks before it writes anything, and tells of what is missing once."""
    with (tmp_path / "log").open("wb") as lines:
        log = Log("json", descriptor=lines.fileno())

        assert await lived(store_url, tmp_path, log) == []
        assert await lived(store_url, tmp_path, log) == []
        raw.flushall()
        assert len(await lived(store_url, tmp_path, log)) == 1
        assert await lived(store_url, tmp_path, log) == []


async def test_without_a_directory_nothing_is_remembered(store_url: str, raw: Any, tmp_path: Path) -> None:
    """The gateway starts all the same: its processes remember for themselves while they live."""
    with (tmp_path / "log").open("wb") as lines:
        log = Log("json", descriptor=lines.fileno())

        assert await lived(store_url, tmp_path / "log", log) == []
        raw.flushall()
        assert await lived(store_url, tmp_path / "log", log) == []


async def test_a_disk_that_is_full_stops_nothing(store_url: str, tmp_path: Path) -> None:
    """The marks are kept the next time; the log says so."""
    with (tmp_path / "log").open("wb") as lines:
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "store-marks.new").mkdir()
        await lived(store_url, tmp_path / "data", Log("json", descriptor=lines.fileno()))

    assert "the marks of the store cannot be kept" in (tmp_path / "log").read_text()


def test_whoever_finds_a_loss_counts_it_and_says_what_ends_it(tmp_path: Path) -> None:
    """One line, at the level that wakes somebody."""
    (tmp_path / "metrics").mkdir()
    told, metrics = Told(), ParentMetrics(tmp_path / "metrics")
    with (tmp_path / "log").open("wb") as lines:
        tell = teller(told, Log("json", descriptor=lines.fileno()))
        tell("it is empty")
        teller(metrics, Log("json", descriptor=lines.fileno()))("it is empty")

    (line, _) = (tmp_path / "log").read_text().splitlines()
    assert told.kinds == ["store-regressed"]
    assert '"level":"error"' in line
    assert "it is empty" in line
    assert "fencegate store accept --note TEXT" in line
    exposed = metrics.exposition(store_up=True, workers_ready=1, census=None, writers={}).decode()
    assert 'fencegate_incidents_total{kind="store-regressed"} 1.0' in exposed


def test_what_is_remembered_is_a_mark_of_an_incarnation() -> None:
    """Nothing more has to outlive a process."""
    assert Remembered("a") == Remembered("a", 0)


async def test_who_can_leave_no_marks_ends(tmp_path: Path) -> None:
    """Not for one bad turn; and it says so once."""
    stopping = asyncio.Event()
    with (tmp_path / "log").open("wb") as lines:
        memory = begin_memory("ada", Told(), stopping, Log("json", descriptor=lines.fileno()))

        for _ in range(4):
            memory.failed()
        assert not stopping.is_set() and not memory.is_silent
        for _ in range(4):
            memory.failed()

    assert stopping.is_set() and memory.is_silent
    assert (tmp_path / "log").read_text().count("no mark can be left") == 1
