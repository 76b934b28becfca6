"""The resources that are written to, who may write, and whose tokens are dead."""

import random
from dataclasses import dataclass, field


@dataclass
class Leases:
    """`live` and `dead` tokens of each resource. A token that is dead when a request is made never comes alive."""

    live: dict[bytes, bytes] = field(default_factory=dict)
    dead: dict[bytes, list[bytes]] = field(default_factory=dict)
    _of: dict[bytes, bytes] = field(default_factory=dict)

    def granted(self, resource: bytes, token: bytes) -> None:
        """From now on the one before is dead."""
        before = self.live.get(resource)
        if before is not None:
            self.dead.setdefault(resource, []).append(before)
            del self._of[before]
        self.live[resource] = token
        self._of[token] = resource

    def resource_of(self, token: bytes) -> bytes | None:
        """What a live token writes to."""
        return self._of.get(token)

    def stale(self, resource: bytes, draw: random.Random) -> bytes:
        """A dead token of the resource, or one that was never granted."""
        return draw.choice(self.dead.get(resource) or [b"1." + b"x" * 32])
