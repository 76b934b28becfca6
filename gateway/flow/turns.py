"""Which queues a deliverer empties now, and which come next: a slow upstream leaves room for the others.

A queue in which something was approved comes first, in places of its own: a person waits for that, and it must not wait
for a long backlog. In the queue itself what came before it goes out before it.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from gateway.core.write import ResourceKey

# Queues that one process empties at a time, and those of one upstream among them.
_AT_ONCE = 128
_OF_AN_UPSTREAM = 32
# Beside them, for those that come first.
_FIRST_AT_ONCE = 32
_FIRST_OF_AN_UPSTREAM = 8
# Of one upstream, kept in mind; the others are found again at the store when it is their turn.
_WAITING = 4096


class Turns:
    """Each queue is here once, under its upstream. `upstream_of` says whose a resource most likely is."""

    def __init__(self, upstream_of: Callable[[ResourceKey], str]) -> None:
        self._upstream_of = upstream_of
        self._begun: dict[ResourceKey, str] = {}
        self._busy: Counter[str] = Counter()
        self._waiting: dict[str, dict[ResourceKey, None]] = {}
        self._first: dict[str, dict[ResourceKey, None]] = {}
        # Under which upstream each of those waits: the policies may name another one by now.
        self._filed: dict[ResourceKey, str] = {}
        self._hurries: set[ResourceKey] = set()

    @property
    def has_room(self) -> bool:
        """Whether it is worth a look at the store: what is found could begin."""
        return len(self._begun) < _AT_ONCE and not any(map(self._has_room_for, self._waiting))

    def offer(self, resources: Iterable[ResourceKey]) -> bool:
        """These queues have something due. False: nothing of it is new, or can be kept in mind."""
        is_new = False
        for resource in resources:
            if resource in self._begun or resource in self._filed:
                continue
            upstream = self._upstream_of(resource)
            if len(self._waiting.get(upstream, ())) < _WAITING:
                self._file(self._waiting, upstream, resource)
                is_new = True
        return is_new

    def begin(self) -> ResourceKey | None:
        """The next one that may be emptied, upstreams by turns; None where none waits that has room."""
        if len(self._begun) < _AT_ONCE + _FIRST_AT_ONCE:
            upstream = next(filter(self._has_room_for_first, self._first), None)
            if upstream is not None:
                return self._begin(self._first, upstream)
        if len(self._begun) < _AT_ONCE:
            upstream = next(filter(self._has_room_for, self._waiting), None)
            if upstream is not None:
                return self._begin(self._waiting, upstream)
        return None

    def put_first(self, resources: Iterable[ResourceKey]) -> None:
        """Something in these queues was approved."""
        for resource in resources:
            self._hurries.add(resource)
            if resource not in self._begun:
                filed = self._filed.get(resource)
                upstream = self._upstream_of(resource) if filed is None else filed
                _leave(self._waiting, upstream, resource)
                self._file(self._first, upstream, resource)

    def passed(self, resource: ResourceKey) -> None:
        """What was approved in this queue, which is emptied now, has left it."""
        self._hurries.discard(resource)

    def is_awaited(self, resource: ResourceKey) -> bool:
        """Whether another queue waits for the place that this one has."""
        others = (self._first,) if resource in self._hurries else (self._first, self._waiting)
        if len(self._begun) >= _AT_ONCE:
            return any(others)
        return any(self._begun[resource] in waiting for waiting in others)

    def end(self, resource: ResourceKey, *, goes_on: bool = False) -> None:
        """It is empty, or cannot go on for now; or it `goes_on`, behind those that wait."""
        upstream = self._begun.pop(resource)
        if goes_on:
            self._file(self._first if resource in self._hurries else self._waiting, upstream, resource)
        else:
            self._hurries.discard(resource)
        self._busy[upstream] -= 1
        if not self._busy[upstream]:
            del self._busy[upstream]

    def _file(self, waiting: dict[str, dict[ResourceKey, None]], upstream: str, resource: ResourceKey) -> None:
        """Behind those of its upstream that wait already."""
        waiting.setdefault(upstream, {})[resource] = None
        self._filed[resource] = upstream

    def _begin(self, waiting: dict[str, dict[ResourceKey, None]], upstream: str) -> ResourceKey:
        resource = next(iter(waiting[upstream]))
        # Behind the other upstreams.
        waiting[upstream] = waiting.pop(upstream)
        _leave(waiting, upstream, resource)
        del self._filed[resource]
        self._begun[resource] = upstream
        self._busy[upstream] += 1
        return resource

    def _has_room_for(self, upstream: str) -> bool:
        return self._busy[upstream] < _OF_AN_UPSTREAM

    def _has_room_for_first(self, upstream: str) -> bool:
        return self._busy[upstream] < _OF_AN_UPSTREAM + _FIRST_OF_AN_UPSTREAM


def _leave(waiting: dict[str, dict[ResourceKey, None]], upstream: str, resource: ResourceKey) -> None:
    queues = waiting.get(upstream, {})
    queues.pop(resource, None)
    if not queues:
        waiting.pop(upstream, None)
