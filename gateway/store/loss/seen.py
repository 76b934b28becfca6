"""The largest epochs that this gateway has seen: by them a store that lost writes is told so, before a mark tells."""

from gateway.core.write import ResourceKey

# The resources that were written last. One that was forgotten is covered by the store's clock all the same.
_REMEMBERED = 10_000


class SeenEpochs:
    """By resource, the newest ones kept. What is from before a loss that was told may be missing by right."""

    def __init__(self) -> None:
        self._seen: dict[ResourceKey, int] = {}
        self._before_loss: dict[ResourceKey, int] = {}

    def note(self, resource: ResourceKey, epoch: int) -> bool:
        """Whether it is larger than all since the last loss."""
        if epoch <= self._seen.get(resource, -1):
            return False
        self._seen.pop(resource, None)
        self._seen[resource] = epoch
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return True

    def forget(self, resource: ResourceKey) -> None:
        """The store is no longer expected to have any epoch of it."""
        self._seen.pop(resource, None)
        self._before_loss.pop(resource, None)

    def lost(self) -> None:
        """The store has lost some of them, and everybody was told: from here on none is expected to be there."""
        self._before_loss |= self._seen
        self._seen = {}
        while len(self._before_loss) > _REMEMBERED:
            del self._before_loss[next(iter(self._before_loss))]

    def expected(self, resource: ResourceKey) -> int:
        """What the store has acknowledged and must have; zero for nothing."""
        return self._seen.get(resource, 0)

    def largest(self, resource: ResourceKey) -> int:
        """Zero for a resource that was never seen."""
        return max(self._seen.get(resource, 0), self._before_loss.get(resource, 0))
