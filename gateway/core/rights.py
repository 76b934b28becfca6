"""What a principal may do: which resources it writes, whether it takes leases over, and how much of each."""

from dataclasses import dataclass

from gateway.core.glob import Glob
from gateway.core.quota import Quota


@dataclass(frozen=True, slots=True)
class Rights:
    """`resources` is None for every resource; `quota` is None where nothing is limited.

    `approve`: whether it may approve writes of others to these resources; or to which others.
    """

    resources: tuple[Glob, ...] | None
    takeover: bool = False
    quota: Quota | None = None
    approve: bool | tuple[Glob, ...] = False

    def cover(self, resource: str) -> bool:
        """Whether the resource may be written, and leased."""
        return self.resources is None or _match(self.resources, resource)

    def may_approve(self, resource: str) -> bool:
        """Whether writes of others to the resource may be approved."""
        if isinstance(self.approve, bool):
            return self.approve and self.cover(resource)
        return _match(self.approve, resource)


def _match(globs: tuple[Glob, ...], resource: str) -> bool:
    names = resource.split("/")
    return any(glob.matches(names) for glob in globs)


EVERYTHING = Rights(None, takeover=True)
