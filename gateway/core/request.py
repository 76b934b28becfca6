"""One agent's request and the answer to it, in our own types: nothing of a web framework goes further than the edge."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from gateway.core.target import Target

HeaderPairs = tuple[tuple[bytes, bytes], ...]


class Headers:
    """Header fields as they came: order, spelling and repetition kept; looked up by lower-case name."""

    __slots__ = ("_index", "pairs")

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]]) -> None:
        self.pairs: HeaderPairs = tuple(pairs)
        self._index: dict[bytes, list[bytes]] = {}
        for name, value in self.pairs:
            self._index.setdefault(name.lower(), []).append(value)

    def all(self, name: bytes) -> list[bytes]:
        """Every value of the field `name` (lower case), in order."""
        return self._index.get(name, [])

    def first(self, name: bytes) -> bytes | None:
        values = self._index.get(name)
        return values[0] if values else None

    def names(self) -> Iterable[bytes]:
        """The lower-case names that occur."""
        return self._index


@dataclass(frozen=True, slots=True)
class Request:
    """A request as far as a decision needs it. `body` is there only where a rule had to read it."""

    method: str
    target: Target
    headers: Headers
    body: bytes | None = field(default=None, repr=False)
