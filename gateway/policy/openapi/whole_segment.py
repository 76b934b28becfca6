"""Rules that take a segment whole of which the document says that it is text and a placeholder in one.

To `/users/{id}` the request `/users/7:erase` writes user `7:erase`, and whoever holds user 7 is not asked.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.core.rule import Upstream
from gateway.policy.entry import AnyEntry, Entry
from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.segment import Partial, Segment, Slot, path_segments
from gateway.policy.openapi.takers import Taken, Takers, Way
from gateway.policy.openapi.translation import Translation, translate
from gateway.policy.pattern import Pattern
from gateway.policy.value_form import ValueForm


@dataclass(frozen=True, slots=True)
class WholeSegment:
    """What becomes of such an operation: whether rules take it, and the one that makes a resource of the segment."""

    is_taken: bool
    named_by: Entry | None = None


class WholeSegments:
    """The rules of an upstream, asked about one operation after another."""

    def __init__(self, entries: Iterable[AnyEntry], upstream: Upstream) -> None:
        self._upstream = upstream
        base = path_segments(upstream.base_path)
        dropped = len(upstream.mount.segments) if upstream.mount.strip else 0
        self._takers: Takers[AnyEntry] = Takers(
            Way(entry, method, (*base, *_segments(pattern)[dropped:]), pattern.slash)
            for entry in entries
            for pattern in entry.matcher.patterns
            for method in pattern.methods
        )

    def of(self, operation: Operation, base: tuple[str, ...]) -> WholeSegment | None:
        """None: no segment of the operation's path is text and a placeholder in one. `base` stands before the path."""
        path = translate(operation.path, operation.rests)
        if not any(isinstance(one, Partial) for one in path.segments):
            return None
        if not path.partial or self._is_cut_off(path):
            return WholeSegment(is_taken=False)
        taking = self._takers.taking(operation.method, (*base, *path.partial), slash=path.slash)
        found = [one for one in taking if one.parts and not _keeps_out(one)]
        named = (one.way.rule for one in found if next(_forms(one), None) is not None)
        return WholeSegment(bool(found), next((entry for entry in named if isinstance(entry, Entry)), None))

    def _is_cut_off(self, path: Translation) -> bool:
        formats, last = self._upstream.mount.format_endings, path.segments[-1]
        return formats is not None and not path.slash and isinstance(last, Partial) and formats.has(last.end)


def _segments(pattern: Pattern) -> tuple[Segment, ...]:
    names = dict(pattern.names)
    fixed = tuple(Slot(names[at]) if text is None else text for at, text in enumerate(pattern.segments))
    return fixed if pattern.rest is None else (*fixed, Slot(pattern.rest, rest=True))


def _keeps_out(taken: Taken[AnyEntry]) -> bool:
    return any(not part.fits(form) for part, form in _forms(taken))


def _forms(taken: Taken[AnyEntry]) -> Iterator[tuple[Partial, ValueForm]]:
    """What of the segments names the rule's resource, and in which form."""
    entry = taken.way.rule
    if not isinstance(entry, Entry):
        return
    for at, part in taken.parts:
        slot = taken.way.segments[at]
        for one in entry.template.parts:
            if one.origin in ("path", "rest") and isinstance(slot, Slot) and one.name == slot.name:
                yield part, one.form
