"""Whether two rules of different authority, mode or revision can make one resource. Errs to yes: a missed overlap would
mix two sources of epochs, let an observed write past the fence of an enforced one, or leave writes out of the count; a
false one costs a rename."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain

from gateway.core.rule import Authority, Mode, Revision, Rule, Signed
from gateway.policy.entry import Entry, Place
from gateway.policy.producers import REST, literal_head, skeleton

# One segment of a resource: the text before its first placeholder, the text behind its last one, and whether there is
# a placeholder at all.
Segment = tuple[str, str, bool]


# Claims that are verified in another way come from another source of epochs.
_Terms = tuple[Authority, Signed | None, Mode, Revision]
_ORDER: tuple[Authority, ...] = ("lease", "header", "signed")


class Made:
    """What an entry's template can make, segment by segment. `rest`: any number of segments follows."""

    __slots__ = ("head", "place", "rest", "rule", "segments")

    def __init__(self, entry: Entry) -> None:
        pieces = skeleton(entry.template)
        self.rule: Rule = entry.rule
        self.place: Place = entry.matcher.place
        self.head = literal_head(entry.template)
        self.rest = pieces[-1] == REST
        self.segments = tuple(_segments(entry))

    def meets(self, other: "Made") -> bool:
        if len(self.segments) != len(other.segments):
            shorter, longer = sorted((self, other), key=lambda one: len(one.segments))
            if not shorter.rest:
                return False
            return all(map(_meet, shorter.segments, longer.segments[: len(shorter.segments)]))
        return all(map(_meet, self.segments, other.segments))


def _segments(entry: Entry) -> Iterator[Segment]:
    before, behind, placed = "", "", False
    for piece in entry.template.pieces:
        if not isinstance(piece, str):
            placed, behind = True, ""
            continue
        first, *others = piece.split("/")
        before, behind = (before, behind + first) if placed else (before + first, "")
        for text in others:
            yield before, behind, placed
            before, behind, placed = text, "", False
    yield before, behind, placed


def _meet(one: Segment, other: Segment) -> bool:
    if not one[2] and not other[2]:
        return one[0] == other[0]
    begins = one[0].startswith(other[0]) if len(one[0]) >= len(other[0]) else other[0].startswith(one[0])
    if not one[2]:
        return begins and one[0].endswith(other[1]) and len(one[0]) > len(other[0]) + len(other[1])
    if not other[2]:
        return begins and other[0].endswith(one[1]) and len(other[0]) > len(one[0]) + len(one[1])
    return begins and (one[1].endswith(other[1]) or other[1].endswith(one[1]))


def _terms(rule: Rule) -> _Terms:
    return rule.authority, rule.signed, rule.mode, rule.revision


def overlapping(made: Iterable[Made]) -> Iterator[tuple[Made, Made]]:
    """For each rule at most one pair: it and the first rule on other terms that can make one of its resources."""
    groups: defaultdict[_Terms, dict[tuple[Segment, ...] | object, Made]] = defaultdict(dict)
    for one in made:
        groups[_terms(one.rule)].setdefault((one.segments, one.rest), one)
    by_head: defaultdict[str | None, list[Made]] = defaultdict(list)
    for terms in sorted(groups, key=lambda each: _ORDER.index(each[0])):
        for one in groups[terms].values():
            near = chain(*by_head.values()) if one.head is None else chain(by_head[one.head], by_head[None])
            rival = next((other for other in near if one.meets(other)), None)
            if rival is not None:
                yield one, rival
        for one in groups[terms].values():
            by_head[one.head].append(one)
