"""Globs over resources: which ones a principal may write. Pieces of text are looked for from the left, never twice."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile

# The longest name that a resource may have.
_LENGTH = 512
# One segment: the texts between its stars.
Segment = tuple[str, ...]
Run = tuple[Segment, ...]


@dataclass(frozen=True, slots=True)
class Glob:
    """`*` stands for any text within a segment, also none; `**`, alone between slashes, for one segment or more."""

    text: str
    _runs: tuple[Run, ...] = field(repr=False, compare=False)
    """What stands between two `**`."""

    def matches(self, names: Sequence[str]) -> bool:
        """Whether it takes the resource with these segments."""
        first, *others = self._runs
        if not others:
            return len(names) == len(first) and _stands(first, names, 0)
        if not _stands(first, names, 0):
            return False
        at = len(first)
        for run in others[:-1]:
            # The leftmost place leaves the most room for what follows.
            places = range(at + 1, len(names) - len(run) + 1)
            start = next((place for place in places if _stands(run, names, place)), None)
            if start is None:
                return False
            at = start + len(run)
        start = len(names) - len(others[-1])
        return start > at and _stands(others[-1], names, start)


def parse_glob(text: str) -> Glob | None:
    """The glob that `text` spells, or None: empty, too long, with an empty segment, or with `**` beside other text."""
    segments = text.split("/")
    well_formed = all(segment and (segment == "**" or "**" not in segment) for segment in segments)
    if not well_formed or not text.isprintable() or len(text) > _LENGTH:
        return None
    runs: list[Run] = []
    rest = iter(segments)
    for _ in range(segments.count("**") + 1):
        runs.append(tuple(tuple(segment.split("*")) for segment in takewhile(lambda one: one != "**", rest)))
    return Glob(text, tuple(runs))


def _stands(run: Run, names: Sequence[str], at: int) -> bool:
    if at + len(run) > len(names):
        return False
    return all(_fits(segment, names[at + offset]) for offset, segment in enumerate(run))


def _fits(segment: Segment, name: str) -> bool:
    head, *others = segment
    if not others:
        return name == head
    *middle, tail = others
    at, end = len(head), len(name) - len(tail)
    if at > end or not name.startswith(head) or not name.endswith(tail):
        return False
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
