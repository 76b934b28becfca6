"""A gateway's side of the store, as a function: the product's own, over a store that is a value.

What a gateway remembers comes in with the call and goes out with the answer, so that nothing is left in between.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, NamedTuple, TypeVar, cast

from gateway.core.clock import Clock, Deadline
from gateway.core.write import ResourceKey
from gateway.store.answer import Answer, read_answer
from gateway.store.clock import StoreClock
from gateway.store.fence import FenceStore
from gateway.store.keys import shard_of
from gateway.store.links.topology import Topology
from gateway.store.loss.recent import Recent
from gateway.store.script import Script
from gateway.store.wake import Wake
from tests.model.explore.era import ERA_MS
from tests.model.explore.shelf import Shelf, State

RESOURCE = ResourceKey("r")
SHARD = shard_of(RESOURCE)
# What every world's shard begins with.
FIRST = "first"

T = TypeVar("T")
# One call. Its arguments are compared: the same question at the same store has the same answer.
Question = Callable[..., Coroutine[Any, Any, Any]]


class Memory(NamedTuple):
    """What a gateway remembers: the largest epoch that it has seen, below which leases have ended with a loss, and what
    the shard began with; the last is empty where it has not learned it.
    """

    seen: int = 0
    floor: int = 0
    origin: str = ""


class _Silence:
    """Nobody is woken: who has to wait asks again."""

    async def close(self) -> None:
        pass


class _StandingClock:
    """Time passes for the store's content alone."""

    def boot(self) -> float:
        return 0.0

    def after(self, seconds: float) -> Deadline:
        return Deadline(seconds, seconds)

    def left(self, deadline: Deadline) -> float:
        return deadline.boot


class ShelfStore(FenceStore):
    """Runs each script on `state`, and leaves there what the script left."""

    def __init__(self, shelf: Shelf, name: str) -> None:
        clock: Clock = _StandingClock()
        store_clock = StoreClock(clock)
        store_clock.learn(ERA_MS, 0.0, 0.0)
        # Nothing here sends a command that is no script, nor is anybody woken.
        super().__init__(cast(Topology, None), cast(Wake, _Silence()), name, store_clock)
        self.state = shelf.empty
        self._shelf = shelf

    async def run(self, script: Script, keys: Sequence[str], *arguments: str | bytes) -> Answer:
        reply, self.state = self._shelf.call(self.state, script.name, keys, arguments)
        return read_answer(reply)

    def asked_twice(self, _resource: ResourceKey) -> Callable[[], bool]:
        """Each call is one: what is asked again is a call of its own here."""
        return lambda: False

    def remember(self, memory: Memory) -> None:
        recent = Recent()
        if memory.seen:
            recent.seen.note(RESOURCE, memory.seen)
        if memory.floor:
            recent.forget(memory.floor)
        if memory.origin:
            recent.origins[SHARD] = memory.origin
        self.expect(recent)

    async def _learn_origin(self, resource: ResourceKey) -> str:
        """As `learn_one`, whose commands are no scripts: what the shard began with, or this, which is left there."""
        assert self.recent is not None
        origin = self._shelf.origin_of(self.state)
        if origin is None:
            origin = FIRST
            self.state = self._shelf.begun_with(self.state, origin)
        return self.recent.origins.setdefault(SHARD, origin)

    def begin_anew(self, origin: str) -> None:
        """The shard gets another origin, and this gateway learns it."""
        assert self.recent is not None
        self.state = self._shelf.begun_with(self.state, origin)
        self.recent.origins[SHARD] = origin

    @property
    def memory(self) -> Memory:
        assert self.recent is not None
        return Memory(self._acknowledged.largest(RESOURCE), self.recent.floor, self._acknowledged.origin(RESOURCE))


class Gateways:
    """All of them, by number. `close` when done."""

    def __init__(self, shelf: Shelf, count: int) -> None:
        self.shelf = shelf
        # Each has a task of its own that waits; nothing here ever wakes it.
        self._loop = asyncio.new_event_loop()
        self._stores = [self._loop.run_until_complete(_made(shelf, f"gateway-{n}")) for n in range(count)]
        self._known: dict[tuple[object, ...], tuple[Any, State, Memory]] = {}

    def close(self) -> None:
        for store in self._stores:
            self._loop.run_until_complete(store.abandoned.close())
        self._loop.close()
        self.shelf.close()

    def ask(
        self, number: int, state: State, memory: Memory, question: Question, *arguments: object
    ) -> tuple[Any, State, Memory]:
        """The answer, the store then, and what the gateway then remembers."""
        asked = (number, state, memory, question, arguments)
        known = self._known.get(asked)
        if known is None:
            store = self._stores[number]
            store.state = state
            store.remember(memory)
            answer = _finished(question(store, *arguments))
            known = self._known[asked] = answer, store.state, store.memory
        return known


async def _made(shelf: Shelf, name: str) -> ShelfStore:
    return ShelfStore(shelf, name)


def _finished(call: Coroutine[Any, Any, T]) -> T:
    """The result of what waits for nothing."""
    try:
        call.send(None)
    except StopIteration as done:
        return cast(T, done.value)
    call.close()
    raise AssertionError("a call on a store that is a value has nothing to wait for")
