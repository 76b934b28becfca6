"""Waiting for a resource: in order of arrival, woken by the store, never by polling alone.

Only the first of a resource's waiters asks the store; the others wait for their turn. A wake-up may be lost (a broken
subscription), so whoever waits asks again after `Waiting.recheck_s` all the same.
"""

import asyncio
from collections import deque
from itertools import islice
from types import TracebackType
from typing import Self

from gateway.core.write import ResourceKey

# More than come while one question is answered.
_REMEMBERED = 256


class Interest:
    """One waiter's interest in a resource. A wake-up that comes before `wait` is not lost."""

    def __init__(self, wakes: "Wakes", resource: ResourceKey, *, woken: bool) -> None:
        self._wakes = wakes
        self._resource = resource
        self._woken = asyncio.Event()
        if woken:
            self._woken.set()

    @property
    def is_woken(self) -> bool:
        """Whether `wait` would return at once."""
        return self._woken.is_set()

    def wake(self) -> None:
        self._woken.set()

    def forget(self) -> None:
        """What was woken so far is taken account of: call it before asking the store."""
        self._woken.clear()

    async def wait(self, within_s: float) -> None:
        """Until woken, but no longer than `within_s` seconds."""
        try:
            async with asyncio.timeout(max(within_s, 0)):
                await self._woken.wait()
        except TimeoutError:
            return

    def __enter__(self) -> Self:
        self._wakes.add(self._resource, self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._wakes.remove(self._resource, self)


class Wakes:
    """Who is to be woken when the store says that a resource has changed."""

    def __init__(self) -> None:
        self._interests: dict[ResourceKey, set[Interest]] = {}
        self._newest: deque[ResourceKey | None] = deque(maxlen=_REMEMBERED)
        self.heard = 0
        """How many wake-ups there have been."""

    def interest(self, resource: ResourceKey, since: int | None = None) -> Interest:
        """Interest from now on; or from when `heard` was `since`, so that only who has to wait need have any."""
        return Interest(self, resource, woken=since is not None and self._woke(resource, since))

    def _woke(self, resource: ResourceKey, since: int) -> bool:
        """Whether the resource was woken since then. Rather once too often, where there have been too many."""
        missed = self.heard - since
        if missed > _REMEMBERED:
            return True
        return any(woken in (None, resource) for woken in islice(reversed(self._newest), missed))

    def on_wake(self, resource: ResourceKey | None) -> None:
        """The store's word that `resource` has changed; None: wake-ups may have been lost, everybody looks again."""
        self.heard += 1
        self._newest.append(resource)
        if resource is None:
            for interests in self._interests.values():
                for interest in interests:
                    interest.wake()
            return
        for interest in self._interests.get(resource, ()):
            interest.wake()

    def add(self, resource: ResourceKey, interest: Interest) -> None:
        self._interests.setdefault(resource, set()).add(interest)

    def remove(self, resource: ResourceKey, interest: Interest) -> None:
        interests = self._interests[resource]
        interests.discard(interest)
        if not interests:
            del self._interests[resource]


class Line:
    """This gateway's writes that wait for one resource, in order of arrival."""

    def __init__(self) -> None:
        self._places: deque[asyncio.Event] = deque()

    def __len__(self) -> int:
        return len(self._places)

    @property
    def behind_first(self) -> int:
        """How many wait behind the first."""
        return max(0, len(self._places) - 1)

    def join(self) -> asyncio.Event:
        """Take the last place. The event is set when it has become the first."""
        place = asyncio.Event()
        self._places.append(place)
        if len(self._places) == 1:
            place.set()
        return place

    def leave(self, place: asyncio.Event) -> bool:
        """Give the place up, first or not; the next one's turn comes. True if nobody is left."""
        first = self._places[0] is place
        self._places.remove(place)
        if first and self._places:
            self._places[0].set()
        return not self._places


class Lines:
    """The lines of all resources that somebody waits for."""

    def __init__(self) -> None:
        self._lines: dict[ResourceKey, Line] = {}

    def line(self, resource: ResourceKey) -> Line:
        return self._lines.setdefault(resource, Line())

    def length(self, resource: ResourceKey) -> int:
        """How many wait for it."""
        line = self._lines.get(resource)
        return 0 if line is None else len(line)

    def close(self, resource: ResourceKey) -> None:
        """Nobody waits for the resource any more."""
        self._lines.pop(resource, None)
