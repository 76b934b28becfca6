"""What a principal may do: which resources it writes, whether it takes leases over, and how much of each."""

from dataclasses import dataclass

from gateway.core.glob import Glob
from gateway.core.quota import Quota


@dataclass(frozen=True, slots=True)
class Rights:
    """`resources` is None for every resource; `quota` is None where nothing is limited.

    `approve`: whether it may approve writes of others to these resources.
    """

    resources: tuple[Glob, ...] | None
    takeover: bool = False
    quota: Quota | None = None
    approve: bool = False

    def cover(self, resource: str) -> bool:
        """Whether the resource may be written, and leased."""
        if self.resources is None:
            return True
        names = resource.split("/")
        return any(glob.matches(names) for glob in self.resources)


EVERYTHING = Rights(None, takeover=True)
