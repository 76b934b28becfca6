"""The parent's work at the store: all of it goes on, whatever happens to a part of it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.write import Incident, ResourceKey
from gateway.flow.clock import BootClock
from gateway.flow.inquiry import Inquiry
from gateway.log import Log
from gateway.serve.sweeping import Sweeping
from gateway.store.embedded import find_server
from gateway.store.fence import FenceStore
from gateway.store.keys import KEPT_BYTES, audit_trail, in_state, resource_keys
from gateway.store.prune import Retention
from gateway.store.questions import Questions
from gateway.store.views.intent_views import intents
from gateway.upstream.sender import HttpSender
from tests.flow.inquiring import POLICY
from tests.stack import rules_from
from tests.store.asked import asked_rule, id_of, in_doubt, keyed, make_due
from tests.store.fences import RESOURCE, admitted, bare, opened
from tests.store.halves import halved
from tests.store.overdue import make_overdue
from tests.store.server import Server
from tests.until import until

WEEK = Retention(604_800.0, 500_000)
WRITE = keyed("a", asked_rule(upstream="mail"))

OTHER = ResourceKey("report/other")
Logged = tuple[Log, Callable[[str], int]]


class Uncounted:
    """Implements `inquiry.Incidents`."""

    def incident(self, kind: Incident) -> None:
        raise AssertionError(kind)


@pytest.fixture
def log(tmp_path: Path) -> Iterator[Logged]:
    """A log, and how often it has told of an event by now."""
    with (tmp_path / "log").open("ab") as lines:

        def told(event: str) -> int:
            whole = (tmp_path / "log").read_text().rpartition("\n")[0]
            return sum(json.loads(line)["event"].startswith(event) for line in whole.splitlines())

        yield Log("json", descriptor=lines.fileno()), told


@contextlib.asynccontextmanager
async def sweeping(store: FenceStore, directory: Path, log: Log) -> AsyncIterator[None]:
    """What a parent does while this lasts. Nothing listens where its upstream should."""
    sender = HttpSender(BootClock())
    rules = rules_from(directory / "policies", POLICY)
    inquiry = Inquiry(Questions(store), sender, lambda: rules, Uncounted(), log)
    running = asyncio.get_running_loop().create_task(Sweeping(store, inquiry, WEEK, lambda: rules, log).run())
    try:
        yield
    finally:
        running.cancel()
        await asyncio.wait({running})
        await inquiry.close(5)
        sender.close()


async def unknown(store: FenceStore) -> set[str]:
    return {record.id for record in (await intents(store, "unknown", None)).items}


async def test_it_sweeps_asks_and_prunes(store: FenceStore, raw: Any, tmp_path: Path, log: Logged) -> None:
    """A dead gateway's ticket ends, an upstream is asked, an entry without a record leaves its list, and what is kept
    is counted anew.
    """
    lines, told = log
    dead = await admitted(store, bare(41, "agent-a"))
    make_overdue(raw, RESOURCE, dead.ticket)
    await in_doubt(store, WRITE)
    make_due(raw, id_of(WRITE))
    raw.zadd(in_state("3ff", "applied"), {"3ffgone": 1})
    raw.set(KEPT_BYTES, 5_000_000)

    async with sweeping(store, tmp_path, lines):
        await until(lambda: raw.zcard(in_state("3ff", "applied")) == 0)
        await until(lambda: raw.get(KEPT_BYTES) == b"0")
        # While the store is slow it may have been asked about again.
        await until(lambda: told("an intent stays unknown") > 0)

        assert await unknown(store) == {dead.ticket, id_of(WRITE)}


async def test_a_bad_record_keeps_no_intent_from_being_asked_about(
    store: FenceStore, raw: Any, tmp_path: Path, log: Logged
) -> None:
    """What cannot be swept or pruned is told; everything else goes on."""
    lines, told = log
    dead = await admitted(store, bare(41, "agent-a"))
    make_overdue(raw, RESOURCE, dead.ticket)
    raw.set(resource_keys(RESOURCE)[0], "no record")
    await in_doubt(store, keyed("a", asked_rule(upstream="mail"), OTHER))
    make_due(raw, id_of(keyed("a", resource=OTHER)))
    raw.set(audit_trail("000"), "no trail")

    async with sweeping(store, tmp_path, lines):
        await until(lambda: told("an intent stays unknown") == 1)
        await until(lambda: told("pruning failed") == 1)


async def test_a_store_that_goes_away_and_comes_back_is_told_once_each(tmp_path: Path, log: Logged) -> None:
    """However many turns it is away."""
    lines, told = log
    server = Server(find_server(), tmp_path, "--save", "", "--appendonly", "no")
    server.start()
    try:
        async with opened(server.url, timeout_s=0.1) as store, sweeping(store, tmp_path, lines):
            await until(lambda: store.healthy)
            server.kill()
            await until(lambda: told("the store is away") == 1)
            server.start()
            await until(lambda: told("the store is back") == 1)

            assert told("the store is away") == 1
    finally:
        server.kill()


async def test_a_part_of_the_store_that_goes_away_is_told_as_such(tmp_path: Path, log: Logged) -> None:
    """Writes of the others' resources pass; whoever reads it looks at one server."""
    lines, told = log
    async with halved(tmp_path, 0.1) as (store, odd), sweeping(store, tmp_path, lines):
        await until(lambda: store.healthy)
        odd.kill()
        await until(lambda: told("a part of the store is away") == 1)
        odd.start()
        await until(lambda: told("the store is back") == 1)

        assert told("the store is away") == 0


async def test_a_bug_ends_neither_the_gateway_nor_the_sweeping(
    store: FenceStore, raw: Any, tmp_path: Path, log: Logged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, and the next turn comes."""
    lines, told = log
    monkeypatch.setattr(store, "expected_ms", lambda: 1 // 0)
    async with sweeping(store, tmp_path, lines):
        await until(lambda: told("sweeping failed") == 1)
        monkeypatch.undo()
        await in_doubt(store, WRITE)
        make_due(raw, id_of(WRITE))

        await until(lambda: told("an intent stays unknown") == 1)
