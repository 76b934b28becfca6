"""The largest epochs that this gateway has seen: by them a store that lost writes is told so, before a mark tells."""

from gateway.core.write import ResourceKey

# The resources that were written last. One that was forgotten is covered by the store's clock all the same.
_REMEMBERED = 10_000


class SeenEpochs:
    """By resource, the newest ones kept. What is from before a loss that was told may be missing by right.

    Each time that an operator forgets a resource's epochs another era of them begins, larger than those before it. Only
    epochs of one era are compared: those of the eras before it are gone by right.
    """

    def __init__(self) -> None:
        self._seen: dict[ResourceKey, int] = {}
        self._before_loss: dict[ResourceKey, int] = {}
        # Of the few resources of which an operator has ever forgotten epochs: the era of what is there of each.
        self._eras: dict[ResourceKey, int] = {}
        self._eras_before_loss: dict[ResourceKey, int] = {}

    def era(self, resource: ResourceKey) -> int:
        """The newest that is known since the last loss; zero for the first one."""
        return self._eras.get(resource, 0)

    def note(self, resource: ResourceKey, epoch: int, era: int = 0) -> bool:
        """Whether it is larger than all of its era since the last loss, and none has begun after that one."""
        if era != self._eras.get(resource, 0) and not self.begin(resource, era):
            return False
        if epoch <= self._seen.get(resource, -1):
            return False
        self._seen.pop(resource, None)
        self._seen[resource] = epoch
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return True

    def begin(self, resource: ResourceKey, era: int) -> bool:
        """The store has no epoch of an era before this one. Whether that is news."""
        if era <= self.era(resource):
            return False
        self.forget(resource)
        self._eras[resource] = era
        if self._eras_before_loss.get(resource, 0) < era:
            self._before_loss.pop(resource, None)
            self._eras_before_loss.pop(resource, None)
        if len(self._eras) > _REMEMBERED:
            self.forget(next(iter(self._eras)))
        return True

    def forget(self, resource: ResourceKey) -> None:
        """Nothing of it is expected to be there."""
        self._seen.pop(resource, None)
        self._eras.pop(resource, None)

    def lost(self) -> None:
        """The store has lost some of them, and everybody was told: from here on none is expected to be there."""
        for resource in self._seen:
            self._eras_before_loss.pop(resource, None)
        self._before_loss |= self._seen
        self._eras_before_loss |= {resource: era for resource, era in self._eras.items() if resource in self._seen}
        self._seen, self._eras = {}, {}
        while len(self._before_loss) > _REMEMBERED:
            oldest = next(iter(self._before_loss))
            del self._before_loss[oldest]
            self._eras_before_loss.pop(oldest, None)

    def expected(self, resource: ResourceKey) -> int:
        """What the store has acknowledged and must have; zero for nothing."""
        return self._seen.get(resource, 0)

    def largest(self, resource: ResourceKey) -> int:
        """Zero for a resource that was never seen."""
        return max(self._seen.get(resource, 0), self._before_loss.get(resource, 0))
