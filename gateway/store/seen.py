"""The largest epochs that this gateway has seen: what a store that lost writes is told when it grants the next one."""

from gateway.core.write import ResourceKey

# The resources that were written last. One that was forgotten is covered by the store's clock all the same.
_REMEMBERED = 10_000


class SeenEpochs:
    """By resource, the newest ones kept."""

    def __init__(self) -> None:
        self._seen: dict[ResourceKey, int] = {}

    def note(self, resource: ResourceKey, epoch: int) -> bool:
        """Whether it is larger than all before."""
        if epoch <= self._seen.get(resource, -1):
            return False
        self._seen.pop(resource, None)
        self._seen[resource] = epoch
        if len(self._seen) > _REMEMBERED:
            del self._seen[next(iter(self._seen))]
        return True

    def largest(self, resource: ResourceKey) -> int:
        """Zero for a resource that was never seen."""
        return self._seen.get(resource, 0)
