"""Things that two paths of a document most likely name: as two resources they would have a holder each.

One path is another version of the other, leads to its end through something more, or stands beside it under another
name. Where the two say the same of a thing, one of them is closed; the rest is asked, as a path may also lead to what
only connects two things. Compared is what has rules, up to the last placeholder: that is what resources are made of.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.parameter import Kind
from gateway.policy.openapi.segment import Slot
from gateway.policy.openapi.translation import Place, Translation
from gateway.policy.openapi.vocabulary import GENERIC, VAGUE, snake_name, words
from gateway.policy.openapi.wording import comment

_VERSION = re.compile(
    r"v(?P<major>[0-9]+)(?:[._][0-9]+)*(?:(?P<stage>alpha|beta|rc)(?P<of_stage>[0-9]*))?", re.IGNORECASE
)
_STAGES = ("alpha", "beta", "rc", "")
# Of how many placeholders whose names tell there is one at most that does not, where those are rare.
_TOLD = 3
# No API's paths lead through more; what is longer is compared by its end alone.
_SEGMENTS = 16
# A shorter name is one that says nothing.
_LETTERS = 2

# A method, and what stands behind the last placeholder.
_Way = tuple[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Thing:
    """What rules write. `place`: its path, None for each placeholder; `bare`: without versions. `slot`, `kind`: of the
    last placeholder; `path` as the document spells it; `ways` in which it is written.
    """

    place: Place
    bare: Place
    slot: str
    kind: Kind
    path: str
    ways: frozenset[_Way]

    @property
    def is_told(self) -> bool:
        """Whether its placeholder's name says what is named."""
        return not GENERIC.issuperset(words(self.slot))


def written_thing(operation: Operation, path: Translation, member: str = "") -> Thing | None:
    """What an operation writes, which `member` of its body names where its path does not. None: a create, and what
    cannot be told.
    """
    pieces = [f"{{{one.name}}}" if isinstance(one, Slot) else str(one) for one in path.segments[: path.kept]]
    place, slot = path.texts[: path.kept], path.slots[-1].name if path.slots else ""
    if member:
        pieces, place, slot = [*pieces, f"{{{member}}}"], (*place, None), member
    if operation.method == "POST" and None not in place:
        return None
    bare = tuple(one for one in place if one is None or _VERSION.fullmatch(one) is None)
    kind = operation.kinds.get(slot, "text")
    way = operation.method, tuple(str(one) for one in path.segments[path.kept :])
    return Thing(place, bare, slot, kind, comment("/" + "/".join(pieces)), frozenset({way}))


class SecondPaths:
    """By what is written why its rules stay closed, and what is asked at the first of them."""

    def __init__(self, written: Iterable[Thing]) -> None:
        things: dict[Place, Thing] = {}
        for thing in written:
            known = things.get(thing.place, thing)
            things[thing.place] = replace(known, ways=known.ways | thing.ways) if known is not thing else thing
        self._closes: dict[Place, str] = {}
        self._asks: dict[Place, str] = {}
        for look in (_versions, _detours):
            pairs = look([thing for place, thing in things.items() if place not in self._closes])
            for thing, other, how in pairs:
                if how:
                    self._closes[thing.place] = _closed(other, how)
                else:
                    self._asks[thing.place] = _asked(other)
        left = [thing for place, thing in things.items() if place not in self._closes and place not in self._asks]
        namesakes = list(_namesakes(left))
        named = {thing.place for some in namesakes for thing in some}
        alike = (*namesakes, *_far_ends([thing for thing in left if thing.place not in named]), *_neighbors(left))
        for first, second, *others in (some for some in alike if len(some) > 1):
            self._asks.setdefault(second.place, _asked(first, len(others)))

    def closes(self, thing: Thing | None) -> str | None:
        return None if thing is None else self._closes.get(thing.place)

    def asks(self, thing: Thing | None) -> str | None:
        """Once: it counts for all rules of the thing."""
        return None if thing is None else self._asks.pop(thing.place, None)


def _versions(things: list[Thing]) -> Iterator[tuple[Thing, Thing, str]]:
    """All but the newest version of a path, the newest, and what closes them."""
    alike: defaultdict[Place, list[Thing]] = defaultdict(list)
    for thing in things:
        alike[thing.bare].append(thing)
    for some in alike.values():
        newest = max(some, key=_age)
        for thing in some:
            if thing is not newest:
                yield thing, newest, "in another version" if thing.ways & newest.ways else ""


def _age(thing: Thing) -> list[tuple[int, int, int]]:
    """The larger, the newer: `v1` after `v1beta2`, and that after `v1alpha3`."""
    found = (_VERSION.fullmatch(one) for one in thing.place if one is not None)
    return [_age_of(one) for one in found if one is not None]


def _age_of(version: re.Match[str]) -> tuple[int, int, int]:
    stage, of_stage = version["stage"] or "", version["of_stage"] or "0"
    return int(version["major"][:9]), _STAGES.index(stage.lower()), int(of_stage[:9])


def _detours(things: list[Thing]) -> Iterator[tuple[Thing, Thing, str]]:
    """Those that lead to another one's end through something more: `/customers/{id}/cards/{card}`, `/cards/{card}`.

    What is deleted there may be the card's tie to a customer, and `/issues/comments/{id}` comments of another kind.
    """
    by_place = {thing.bare: thing for thing in things}
    for thing in things:
        shorter = next((by_place[place] for place in _shortened(thing.bare) if place in by_place), None)
        if shorter is not None:
            both = {method for method, _ in thing.ways & shorter.ways}
            is_same = bool(both - {"DELETE"})
            is_through = thing.bare.count(None) > shorter.bare.count(None)
            yield thing, shorter, "by another path" if is_same and is_through else ""


def _shortened(place: Place) -> Iterator[Place]:
    """Without some segments before its last text and placeholder, the shortest first."""
    end = len(place) - 2
    if end < 1 or place[-1] is not None or place[-2] is None:
        return
    for left in range(end) if len(place) <= _SEGMENTS else (0,):
        for start in range(left + 1):
            yield (*place[:start], *place[start + end - left :])


def _namesakes(things: list[Thing]) -> Iterator[list[Thing]]:
    """Those whose placeholders have one name, `/ban/{user_id}` and `/users/{user_id}`, if that tells what is named.

    Those that only tie a third thing to others are none: `/teams/{t}/members/{user_id}`, `/teams/{t}/blocks/{user_id}`.
    """
    alike: defaultdict[str, list[Thing]] = defaultdict(list)
    for thing in things:
        told = words(thing.slot)
        if thing.is_told and VAGUE.isdisjoint(told) and max(map(len, told)) > _LETTERS:
            alike[snake_name(thing.slot)].append(thing)
    for some in alike.values():
        if any(map(_is_named_by, some)) or sum(thing.bare.count(None) == 1 for thing in some) > 1:
            yield some


def _far_ends(things: list[Thing]) -> Iterator[list[Thing]]:
    """Those of one end under different parents, where they may be known without these, whatever they are called."""
    alike: defaultdict[object, list[Thing]] = defaultdict(list)
    for thing in things:
        if thing.bare[-1:] != (None,) or len(thing.bare) < 2 or thing.bare[-2] is None:
            continue
        if thing.bare[-4:-3] not in ((), (None,)) and thing.bare[-3:-2] == (None,):
            alike[thing.bare[-4:]].append(thing)
        if thing.is_told or thing.kind == "uuid":
            alike[thing.bare[-2], thing.slot].append(thing)
    yield from alike.values()


def _neighbors(things: list[Thing]) -> Iterator[list[Thing]]:
    """Those of one parent whose last text alone differs, and whose placeholders say nothing, in a document where such
    are rare.
    """
    alike: defaultdict[object, list[Thing]] = defaultdict(list)
    for thing in things:
        if not thing.is_told and thing.bare[-1:] == (None,) and len(thing.bare) > 1 and thing.bare[-2] is not None:
            alike[thing.bare[:-2], thing.slot].append(thing)
    silence_tells = sum(thing.is_told for thing in things) >= _TOLD * sum(not thing.is_told for thing in things)
    yield from (some for some in alike.values() if silence_tells and None in some[0].bare[:-2])


def _is_named_by(thing: Thing) -> bool:
    """`persons/{person}`, `categories/{categoryId}`."""
    name, text = words(thing.slot)[:1], words((*thing.bare[-2:-1], None)[0] or "")[-1:]
    return bool(name and text) and len(name[0]) > 2 and text[0].startswith(name[0][: max(3, len(name[0]) - 1)])


def _asked(other: Thing, more: int = 0) -> str:
    others = "" if not more else " (or another path)" if more == 1 else f" (or one of {more} other paths)"
    return (
        f"does it write what `{other.path}`{others} writes? If so give their rules one `resource`, or close all but "
        "one: they are fenced apart"
    )


def _closed(open_thing: Thing, how: str) -> str:
    return f"it may write what `{open_thing.path}` writes, {how}; give both one `resource`, or leave one closed"
