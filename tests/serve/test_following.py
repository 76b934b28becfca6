"""The policies by which a process sends that delivers alone."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.log import Log
from gateway.policy.reload import PolicyHolder
from gateway.serve.edition import SILENT_AFTER_S
from gateway.serve.following import Following
from tests.policy.asking import one_rule
from tests.serve.test_edition import SetClock
from tests.until import until


@asynccontextmanager
async def following(directory: Path, clock: SetClock) -> AsyncIterator[tuple[Following, asyncio.Event]]:
    """What looks at the files in this directory once it is told to begin."""
    (directory / "policy.yaml").write_text(one_rule())
    holder, told = PolicyHolder.open(directory, {}), asyncio.Event()
    assert isinstance(holder, PolicyHolder)
    with Path(os.devnull).open("wb") as nowhere:
        yield Following(holder, told, clock, Log("json", descriptor=nowhere.fileno())), told


async def test_one_that_was_stopped_sends_nothing_until_it_has_read_what_changed(tmp_path: Path) -> None:
    """It takes two looks; the first one would send by what has ended meanwhile."""
    clock, used = SetClock(), list[str]()
    async with following(tmp_path, clock) as (rules, _):
        assert rules().refused is None
        clock.now += SILENT_AFTER_S
        (tmp_path / "policy.yaml").write_text(one_rule().replace("name: one", "name: two"))
        assert rules().refused is not None

        looking = asyncio.ensure_future(rules.run())

        def is_sent() -> bool:
            now = rules()
            used.extend(entry.rule.name for entry in now.entries if now.refused is None)
            return now.refused is None

        await until(is_sent)
        looking.cancel()

    assert used == ["two"]


async def test_what_waits_in_its_line_is_told_so_before_anything_else_has_looked(tmp_path: Path) -> None:
    """Continued, it would be sent by what may have ended meanwhile."""
    clock = SetClock()
    async with following(tmp_path, clock) as (rules, _):
        (upstream,) = rules().upstreams
        assert not upstream.term.is_over

        clock.now += SILENT_AFTER_S

        assert upstream.term.is_over
        looking = asyncio.ensure_future(rules.run())
        await until(lambda: not upstream.term.is_over)
        looking.cancel()


async def test_one_that_is_told_reads_them_at_once(tmp_path: Path) -> None:
    """By a signal, without a second look."""
    async with following(tmp_path, SetClock()) as (rules, told):
        (tmp_path / "policy.yaml").write_text(one_rule().replace("name: one", "name: two"))
        told.set()
        looking = asyncio.ensure_future(rules.run())
        await until(lambda: rules().entries[0].rule.name == "two")
        looking.cancel()
