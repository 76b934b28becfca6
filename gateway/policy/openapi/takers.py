"""Which rules take the requests of an operation: a placeholder takes whatever stands in its place, text too."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from gateway.policy.openapi.segment import Partial, Segment, Slot

Rule = TypeVar("Rule")


@dataclass(frozen=True, slots=True)
class Way(Generic[Rule]):
    """A rule's method and path, as a document spells it."""

    rule: Rule
    method: str
    segments: tuple[Segment, ...]
    slash: bool


@dataclass(frozen=True, slots=True)
class Taken(Generic[Rule]):
    """A rule that takes an operation. `parts`: what its placeholders take whole that is text and placeholders in one,
    by their places among its segments.
    """

    way: Way[Rule]
    parts: tuple[tuple[int, Partial], ...]


@dataclass(slots=True)
class _Node(Generic[Rule]):
    texts: dict[str, "_Node[Rule]"] = field(default_factory=dict)
    slot: "_Node[Rule] | None" = None
    ends: list[Way[Rule]] = field(default_factory=list)
    rests: list[Way[Rule]] = field(default_factory=list)


class Takers(Generic[Rule]):
    """Rules as a tree of their segments, so that thousands of operations are compared with thousands of rules."""

    def __init__(self, ways: Iterable[Way[Rule]]) -> None:
        self._roots: dict[tuple[str, bool], _Node[Rule]] = {}
        for way in ways:
            node = self._roots.setdefault((way.method, way.slash), _Node())
            for segment in way.segments:
                if isinstance(segment, Slot) and segment.rest:
                    node.rests.append(way)
                    break
                if isinstance(segment, str):
                    node = node.texts.setdefault(segment, _Node())
                else:
                    node.slot = node.slot or _Node()
                    node = node.slot
            else:
                node.ends.append(way)

    def taking(self, method: str, segments: tuple[Segment, ...], *, slash: bool) -> Iterator[Taken[Rule]]:
        """Every rule that takes some request of an operation."""
        root = self._roots.get((method, slash))
        # Not by recursion: a document's paths may be as deep as they like.
        waiting = [] if root is None else [(root, 0)]
        while waiting:
            node, at = waiting.pop()
            ends = node.ends if at == len(segments) else node.rests
            yield from (Taken(way, tuple(_parts(way, segments))) for way in ends)
            if at < len(segments):
                waiting.extend((below, at + 1) for below in _below(node, segments[at]))


def _below(node: _Node[Rule], segment: Segment) -> Iterator[_Node[Rule]]:
    if isinstance(segment, str):
        text = node.texts.get(segment)
        yield from () if text is None else (text,)
    elif isinstance(segment, Slot):
        yield from node.texts.values()
    if node.slot is not None:
        yield node.slot


def _parts(way: Way[Rule], segments: tuple[Segment, ...]) -> Iterator[tuple[int, Partial]]:
    last = len(way.segments) - 1
    for at, segment in enumerate(segments):
        if isinstance(segment, Partial):
            yield min(at, last), segment
