"""What one process remembers of its store, and how it finds out that the store does not.

Every second it leaves a mark in each server, and it looks for the last acknowledged one before anything else leaves
over a new connection, for what was acknowledged since, and for what each shard began with (origins.py). Where something
is missing it says so in the store itself: scripts refuse from then on what may be wrong (parts/loss.lua), through every
gateway, until an operator accepts it.
"""

import asyncio
import contextlib
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from redis.asyncio.connection import AbstractConnection

from gateway.core.clock import Clock
from gateway.core.faults import StoreUnavailable
from gateway.core.loss import Found, Kept, Lost, Remembered, Told, judge
from gateway.store.answer import text
from gateway.store.fence import FenceStore
from gateway.store.keys import SHARDS, marks, origin, shard_keys, shards, store_record
from gateway.store.lasting import Lasting
from gateway.store.links.first_words import FirstReply, ask_first, is_elsewhere, reply_of
from gateway.store.links.link import Link, Reply, hang_up
from gateway.store.links.topology import places
from gateway.store.loss.origins import count_lost, learn, learn_anew, learn_here
from gateway.store.loss.places import Place
from gateway.store.loss.recent import Proof, Recent
from gateway.store.script import Script

MARK = Script("mark", ("epoch", "loss"))
REGRESS = Script("regress", ("epoch", "audit"))
REGRESS_SHARD = Script("regress_shard", ("epoch", "loss"))

# What was acknowledged since the last mark is remembered one by one; more than a second of it would be much.
_EVERY_S = 1.0
# The others connect again within half a second, and the one that knows of a loss may be the last of them.
_OTHERS_WITHIN_S = 0.6
# Faults since the last acknowledged mark: four seconds, with the pauses between them. The next mark makes them good.
_SILENT_AFTER = 5
# A process that was cut off for longer has lost what it could compare: others clear its mark away.
_MARK_LIVES_S = 30 * 86_400.0
_INCARNATION_BYTES = 8
_RUN_ID = re.compile(rb"^run_id:(\w+)", re.MULTILINE)

# By the shard that stands for a server: its first.
Places = Mapping[str, Remembered]
OnLoss = Callable[[str], None]
OnSilent = Callable[[], None]


class Incarnation:
    """The memory of one process, of one store. `name` is the process's own, made up where it is None; `on_loss` is told
    why, if this one is the first to find a loss. `remembered`: what a former process of this name knew. `patience_s`:
    how long it waits for others when a server was started anew.
    """

    def __init__(
        self,
        name: str | None,
        clock: Clock,
        on_loss: OnLoss,
        remembered: Places | None = None,
        patience_s: float = _OTHERS_WITHIN_S,
    ) -> None:
        self.name = name or _new()
        self.recent = Recent()
        self.lasting = Lasting(clock.boot)
        """How long writes last. A store that is opened with this memory brings its own, and what follows."""
        self.furthest_ms: Callable[[], int] = _never
        """The furthest that the store's clock is expected to be."""
        self.on_silent: OnSilent | None = None
        self.is_silent = False
        """Whether no mark can be left for a bug, again and again: a loss may go unnoticed here. `on_silent` is told."""
        self._faults = 0
        self.read = clock.boot
        self._on_loss = on_loss
        self._patience_s = patience_s
        self._remembered: dict[str, Remembered] = dict(remembered or {})
        self._began_at = clock.boot()
        # When the last acknowledged mark of a place had left; for those that are only remembered, when this one began.
        self._marked_at: dict[str, float] = {}
        # By their run ids: each start of a server has its own.
        self._servers: set[bytes | None] = set()
        self._told: set[str] = set()

    @property
    def remembered(self) -> Places:
        return self._remembered

    async def check(self, connection: AbstractConnection) -> None:
        """Whether the server at the other end has what it acknowledged. Raises whatever keeps it from an answer."""
        try:
            run_id = await _run_id(connection)
            here = await self._check_all(connection)
            # It was started anew, or is another one; or it was away when this process began.
            is_another = bool(here) and bool(self._servers)
            is_late = self.read() - self._began_at > self._patience_s
            if run_id not in self._servers and (is_another or is_late):
                # What this process does not miss another one may: it is heard before anything is decided there. A node
                # that comes back to its cluster takes no writes for two seconds, so that nobody can tell of a loss.
                await learn_here(connection, self.recent, here)
                await asyncio.sleep(self._patience_s)
                for place in here:
                    await self._check_one(connection, place)
            self._servers.add(run_id)
        except BaseException:
            await hang_up(connection)
            raise

    async def run(self, store: FenceStore) -> None:
        """Leave marks, until it is cancelled; at once where something is missed. What cannot be marked now is later."""
        while True:
            self.recent.doubted.clear()
            with contextlib.suppress(StoreUnavailable):
                await self.mark(store)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_EVERY_S):
                    await self.recent.doubted.wait()

    def failed(self) -> None:
        """`run` has ended by a bug."""
        self._faults += 1
        if self._faults >= _SILENT_AFTER and not self.is_silent:
            self.is_silent = True
            if self.on_silent is not None:
                self.on_silent()

    async def mark(self, store: FenceStore) -> None:
        """Leave one mark in each server. Raises StoreUnavailable where one is away, once the others have theirs."""
        away = await self._mark_all(store)
        for shard in self.recent.take_doubtful():
            # Its server has the last mark, and not the shard: a new connection tells.
            store.link.at(origin(shard)).leave()
        if await learn(store.link, self.recent):
            # A store that was emptied since that mark would pass for the one that is known.
            away = await self._mark_all(store)
        if away is not None:
            raise away

    async def _mark_all(self, store: FenceStore) -> StoreUnavailable | None:
        """What an unmarked server acknowledged is remembered until it has a mark; returns why one has none."""
        self.recent.turn()
        asked_at, link = self.read(), store.link
        asked = {place: link.at(store_record(place)) for place in places(link)}
        replies = await asyncio.gather(*(self._mark(store, place) for place in asked), return_exceptions=True)
        silent, away = set[Link](), None
        for (place, server), reply in zip(asked.items(), replies, strict=True):
            if reply is None:
                self._marked_at[place] = asked_at
            elif isinstance(reply, StoreUnavailable):
                # The one that was asked, and its successor.
                silent |= {server, link.at(store_record(place))}
                away = reply
            else:
                raise reply
        self.recent.covered({shard for shard in shards() if silent and link.at(store_record(shard)) in silent})
        if any(reply is None for reply in replies):
            self._faults = 0
        return away

    async def _mark(self, store: FenceStore, place: str) -> None:
        known = self._remembered.get(place)
        at = known or Remembered("")
        following = at.mark + 1
        arguments = self.name, at.incarnation, str(at.mark), str(following), _new(), str(round(_MARK_LIVES_S * 1000))
        asked_at = self.read()
        answer = await store.run(MARK, shard_keys(place), *arguments, self.lasting.told())
        if answer.word == "marked":
            self.lasting.hear(text(answer.rest[1]), asked_at)
        if self._remembered.get(place) is not known:
            # Meanwhile it was connected anew, and checked.
            return
        if answer.word == "marked":
            self._remembered[place] = Remembered(text(answer.rest[0]), following)
        else:
            # The store may have been emptied under a living connection; a new one is checked.
            store.link.at(store_record(place)).leave()

    async def _check_all(self, connection: AbstractConnection) -> list[str]:
        """The places that are this server's, each of them checked if its mark is still there."""
        fresh_from = self.read() - _MARK_LIVES_S
        fresh = [place for place in self._remembered if self._marked_at.get(place, self._began_at) > fresh_from]
        here = [place for place in fresh if await self._check_one(connection, place)]
        if here:
            await self._check_recent(connection, here[0])
        return here

    async def _check_one(self, connection: AbstractConnection, place: str, forgotten: str = "") -> bool:
        """False where the place is another server's. `forgotten`: what is missing although the mark may be there."""
        found = await _found(connection, place, self.name)
        if found is None:
            return False
        match judge(self._remembered[place], found):
            case Kept() if forgotten:
                await self._tell(connection, place, found, forgotten)
            case Kept():
                pass
            # Whoever has told of it meanwhile has told of this too.
            case Told():
                await self._heed(connection, place, found)
            case Lost(why):
                await self._tell(connection, place, found, why)
        return True

    async def _check_recent(self, connection: AbstractConnection, place: str) -> None:
        proofs = list(self.recent.proofs(self.read(), self.furthest_ms()))
        replies = await ask_first(connection, [proof.command for proof in proofs])
        missing = len(list(_missing(zip(proofs, replies, strict=True))))
        if missing:
            why = f"it has forgotten {missing} of {len(proofs)} steps that it acknowledged in its last second"
            await self._check_one(connection, place, why)
        elif emptied := await count_lost(connection, self.recent):
            await self._check_one(connection, place, f"{emptied} of {SHARDS} shards have been emptied under it")

    async def _tell(self, connection: AbstractConnection, place: str, found: Found, why: str) -> None:
        incarnation = _new()
        self._told.add(incarnation)
        about = found.incarnation or "", incarnation, why, self.name, self._remembered[place].incarnation
        (reply,) = await ask_first(connection, [_eval(REGRESS, place, *about, str(self.furthest_ms()))])
        if isinstance(reply, Exception):
            raise reply
        now = await _found(connection, place, self.name)
        assert now is not None
        await self._heed(connection, place, now, why)

    async def _heed(self, connection: AbstractConnection, place: str, found: Found, why: str = "") -> None:
        """Whoever hears of a loss sees to it that all shards of the server do: who found it may have died since."""
        assert found.incarnation is not None
        if found.is_open:
            await _regress_shards(connection, place, found.floor, str(round(self.lasting() * 1000)), found.since)
        await learn_anew(connection, self.recent)
        self._remembered[place] = Remembered(found.incarnation)
        self.recent.forget(int(found.floor))
        if found.incarnation in self._told:
            self._told.remove(found.incarnation)
            self._on_loss(why or "the store went back in time")


async def _found(connection: AbstractConnection, place: str, name: str) -> Found | None:
    """What the server says of itself; None where the place is another server's."""
    fields = ("incarnation", "before", "floor", "since", "accepted")
    record, mark = await ask_first(connection, [("HMGET", store_record(place), *fields), ("HGET", marks(place), name)])
    if is_elsewhere(record):
        return None
    incarnation, before, floor, since, accepted = map(_word, _list(record))
    made = _word(reply_of(mark))
    found = Found(incarnation, int(made.partition(" ")[0]) if made else 0)
    if before is None or floor is None or since is None:
        return found
    return replace(found, before=tuple(before.split()), is_open=accepted is None, floor=floor, since=since)


async def _regress_shards(connection: AbstractConnection, place: str, *arguments: str) -> None:
    # The first one leaves the script there.
    await ask_first(connection, [_eval(REGRESS_SHARD, place, *arguments)])
    commands = [("EVALSHA", REGRESS_SHARD.sha, "7", *shard_keys(shard), *arguments) for shard in shards()]
    for reply in await ask_first(connection, commands):
        if isinstance(reply, Exception) and not is_elsewhere(reply):
            raise reply


async def _run_id(connection: AbstractConnection) -> bytes | None:
    """The server process's own name; None where it does not tell."""
    (info,) = await ask_first(connection, [("INFO", "server")])
    found = _RUN_ID.search(info) if isinstance(info, bytes) else None
    return found[1] if found else None


def _missing(asked: Iterator[tuple[Proof | Place, FirstReply]]) -> Iterator[Proof | Place]:
    for proof, reply in asked:
        if not is_elsewhere(reply) and not proof.holds(reply_of(reply)):
            yield proof


def _eval(script: Script, place: str, *arguments: str) -> tuple[str, ...]:
    return "EVAL", script.text, "7", *shard_keys(place), *arguments


def _never() -> int:
    return 0


def _new() -> str:
    return secrets.token_hex(_INCARNATION_BYTES)


def _word(reply: Reply) -> str | None:
    return None if reply is None else text(reply)


def _list(reply: FirstReply) -> list[Reply]:
    found = reply_of(reply)
    assert isinstance(found, list)
    return found
