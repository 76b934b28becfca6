"""Operations whose path most likely does not name what they write: one thing would have two names, and two fences."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.parameter import Kind
from gateway.policy.openapi.segment import Slot
from gateway.policy.openapi.translation import Translation
from gateway.policy.openapi.wording import comment, placeholder_name, words

# By which APIs call one of many things without its id.
_ALIASES = frozenset(
    {"current", "default", "first", "last", "latest", "me", "mine", "newest", "own", "primary", "self"}
)
_MANY = frozenset({"batch", "bulk", "many", "mass", "multiple"})
# What stands between two things that are both written, and how the two are called.
_BETWEEN = frozenset(
    {"assign", "attach", "clone", "copy", "into", "link", "merge", "move", "onto", "swap", "to", "transfer"}
)
_ENDS = frozenset({"dest", "destination", "from", "source", "target", "to"})
# An id that a JSON body spells in the one way that a path does.
_EXACT: frozenset[Kind] = frozenset({"integer", "uuid"})
# A member that a pointer names without escapes.
_MEMBER = re.compile("[A-Za-z0-9_-]+")

_Place = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Item:
    """What a path has at a place where it names one of many: as the document calls it, and what its name is."""

    name: str
    kind: Kind
    example: str


@dataclass(frozen=True, slots=True)
class Doubt:
    """`closes`: the operation gets no rule. `asks`: it gets one that is asked about. `exact`: its body has the name."""

    closes: str | None = None
    asks: str | None = None
    exact: Item | None = None


class Items:
    """Where the paths of a document name one of many things."""

    def __init__(self, ruled: Iterable[tuple[Operation, Translation]]) -> None:
        self._at: dict[_Place, Item] = {}
        for operation, path in ruled:
            place: _Place = ()
            for segment in path.segments:
                if isinstance(segment, Slot) and not segment.rest and place not in self._at:
                    kind = operation.kinds.get(segment.name, "text")
                    self._at[place] = Item(segment.name, kind, comment(operation.path))
                place = (*place, segment if isinstance(segment, str) else None)

    def doubt(self, operation: Operation, path: Translation) -> Doubt:
        """What is doubtful of an operation, the worst first."""
        texts: _Place = tuple(one if isinstance(one, str) else None for one in path.segments)
        if _writes_many(operation, texts):
            return Doubt("one call may write many things, and each of them has a holder of its own")
        if _writes_two(path):
            return Doubt("it may write two things; let its resource be what both have in common")
        item = self._at.get(texts) if texts[-1:] != (None,) else None
        return self._alias(operation, texts) if item is None else _collection(operation, item)

    def _alias(self, operation: Operation, texts: _Place) -> Doubt:
        """A text where other paths name one of many: another name of one, several of them, or an action on them."""
        for at, text in enumerate(texts):
            item = None if text is None else self._at.get(texts[:at]) or self._of_collection(texts[: at + 1])
            if text is None or item is None:
                continue
            is_last = at == len(texts) - 1
            if text.lower() in _ALIASES or (is_last and operation.method != "POST"):
                return Doubt(f"`{comment(text)}` may be another name of what `{item.example}` writes")
            if is_last:
                return Doubt(asks=f"does it write what `{item.example}` writes? It is fenced apart from that")
        return Doubt()

    def _of_collection(self, texts: _Place) -> Item | None:
        """What a method beside a collection's name may write: `/docs:purge` beside `/docs/{id}`."""
        collection, colon, _ = (texts[-1] or "").partition(":")
        return self._at.get((*texts[:-1], collection)) if colon else None


def _writes_many(operation: Operation, texts: _Place) -> bool:
    last = texts[-1] if texts else None
    return not _MANY.isdisjoint((*words(last or ""), *words(operation.operation_id)))


def _writes_two(path: Translation) -> bool:
    slots = [one for one in path.segments if isinstance(one, Slot)]
    if len(slots) > 1 and any(not _ENDS.isdisjoint(words(slot.name)) for slot in slots):
        return True
    pairs = enumerate(zip(path.segments, path.segments[1:], strict=False))
    return any(
        isinstance(text, str)
        and isinstance(after, Slot)
        and text.lower() in _BETWEEN
        and any(isinstance(one, Slot) for one in path.segments[:at])
        for at, (text, after) in pairs
    )


def _collection(operation: Operation, item: Item) -> Doubt:
    """What stands before an id: it is written as a whole, or one of it by an id in the body."""
    members = operation.body.kinds
    same = [name for name in members if placeholder_name(name, set()) in ("id", placeholder_name(item.name, set()))]
    if operation.method == "POST":
        asks = f"its body has `{comment(same[0])}`: does it write over what `{item.example}` writes?" if same else None
        return Doubt(asks=asks)
    kind = members.get(item.name)
    is_exact = operation.body.exact and kind in _EXACT and kind == item.kind
    if is_exact and operation.method != "DELETE" and _MEMBER.fullmatch(item.name):
        return Doubt(exact=item)
    return Doubt(f"it writes what `{item.example}` writes too, and its path does not say which of them")
