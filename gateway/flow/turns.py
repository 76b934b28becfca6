"""Which queues a deliverer empties now, and which come next: a slow upstream leaves room for the others."""

from collections import Counter
from collections.abc import Callable, Iterable

from gateway.core.write import ResourceKey

# Queues that one process empties at a time, and those of one upstream among them.
_AT_ONCE = 128
_OF_AN_UPSTREAM = 32
# Of one upstream, kept in mind; the others are found again at the store when it is their turn.
_WAITING = 4096


class Turns:
    """Each queue is here once, under its upstream. `upstream_of` says whose a resource most likely is."""

    def __init__(self, upstream_of: Callable[[ResourceKey], str]) -> None:
        self._upstream_of = upstream_of
        self._begun: dict[ResourceKey, str] = {}
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, dict[ResourceKey, None]] = {}

    @property
    def has_room(self) -> bool:
        """Whether it is worth a look at the store: what is found could begin."""
        return len(self._begun) < _AT_ONCE and not any(map(self._has_room_for, self._waiting))

    def offer(self, resources: Iterable[ResourceKey]) -> bool:
        """These queues have something due. False: nothing of it is new, or can be kept in mind."""
        is_new = False
        for resource in resources:
            if resource in self._begun:
                continue
            waiting = self._waiting.setdefault(self._upstream_of(resource), {})
            if len(waiting) < _WAITING and resource not in waiting:
                waiting[resource] = None
                is_new = True
        return is_new

    def begin(self) -> ResourceKey | None:
        """The next one that may be emptied, upstreams by turns; None where none waits that has room."""
        if len(self._begun) >= _AT_ONCE:
            return None
        upstream = next(filter(self._has_room_for, self._waiting), None)
        if upstream is None:
            return None
        waiting = self._waiting.pop(upstream)
        resource = next(iter(waiting))
        del waiting[resource]
        if waiting:
            self._waiting[upstream] = waiting
        self._begun[resource] = upstream
        self._busy[upstream] += 1
        return resource

    def is_awaited(self, resource: ResourceKey) -> bool:
        """Whether another queue waits for the place that this one has."""
        if len(self._begun) >= _AT_ONCE:
            return bool(self._waiting)
        return self._begun[resource] in self._waiting

    def end(self, resource: ResourceKey, *, goes_on: bool = False) -> None:
        """It is empty, or cannot go on for now; or it `goes_on`, behind those that wait."""
        upstream = self._begun.pop(resource)
        if goes_on:
            self._waiting.setdefault(upstream, {})[resource] = None
        self._busy[upstream] -= 1
        if not self._busy[upstream]:
            del self._busy[upstream]

    def _has_room_for(self, upstream: str) -> bool:
        return self._busy[upstream] < _OF_AN_UPSTREAM
