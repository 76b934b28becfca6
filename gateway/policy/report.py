"""The findings of one file, gathered while it is compiled."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from gateway.policy.entry import Place
from gateway.policy.finding import Finding, Wrong
from gateway.policy.source import Path, Source

T = TypeVar("T")


class Report:
    """Knows the places of a source, so that what compiles a text need not."""

    __slots__ = ("_source", "findings")

    def __init__(self, source: Source) -> None:
        self._source = source
        self.findings: list[Finding] = []

    def add(self, path: Path, message: str) -> None:
        self.findings.append(self._source.finding(path, message))

    def take(self, path: Path, value: T | Wrong) -> T | None:
        """The value, or None with its fault noted at `path`."""
        if isinstance(value, Wrong):
            self.add(path, value.message)
            return None
        return value

    def take_key(self, path: Path, value: T | Wrong) -> T | None:
        """As `take`, for what the key at the end of `path` says."""
        if isinstance(value, Wrong):
            self.findings.append(self._source.key_finding(path, value.message))
            return None
        return value

    def take_each(
        self, path: Path, values: Sequence[str], read: Callable[[str], T | Wrong], told: str = "`{}`"
    ) -> tuple[T, ...]:
        """What a list holds, in its order. `told`: how one that stands there twice is called, which is a fault."""
        taken: dict[T, None] = {}
        for at, value in enumerate(values):
            found = self.take((*path, at), read(value))
            if found in taken:
                self.add((*path, at), f"{told.format(value)} stands here twice; remove one")
            if found is not None:
                taken[found] = None
        return tuple(taken)

    def place(self, path: Path) -> Place:
        position = self._source.at(path)
        return Place(self._source.file, position.line, position.column)
