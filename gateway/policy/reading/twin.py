"""Names in one JSON object of which some reader takes one for another: twins, of which a rule sees only its own.

Case, `_`, `-` and blanks count in some readers only: FastAPI with camel-case aliases, Django REST, Spring and fastjson
take `docId` and `doc_id` for one. A name with punctuation is more than a name to others: lodash takes `doc.id` before
what is nested, Eloquent writes `doc->id` into it; JSON-LD takes `@id` for `id` where its context says so; Rails puts
`at(1i)`, `at(2i)` together to one `at`, PocketBase adds `doc+` to what is there, OData takes a link to it from
`doc@odata.bind`. So a name is also what stands before its first mark.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from string import punctuation

from gateway.policy.reading.caseless import unmarked
from gateway.policy.reading.hidden import seen

# To JavaScript every object has members of these names: a copy of one with them may have others than it shows.
INHERITED = frozenset(("__proto__", "constructor", "prototype"))

# A way into an object begins with these; of `->` only this is left without dashes. Behind others nobody finds a member.
_WAY, _ALL = ".>[]\"'(/:", re.escape(punctuation)
_MARK, _OTHER = f"[{_ALL}]", f"[{re.escape(''.join(sorted({*punctuation}.difference(_WAY))))}]"
_STEP = f"[{re.escape(_WAY)}]{_MARK}*+"
_MARKS = re.compile(f"{_MARK}+")
_EDGE = r"[.>\[\]\"'(]"
_INHERITED = re.compile(rf"\0(?:[^\0]*{_EDGE})? *+(?:{'|'.join(sorted(INHERITED))}) *+(?:{_EDGE}[^\0]*)?(?=\0)")
# What OData says of a member, and no value of it: clients send back what they were sent. `bind` and its like write.
_WRITES = r"(?:odata\.)?(?:bind|delta|id)"
_QUALIFIED = r"(?:\w++\.)++\w++"
_TELLS = r"type|context|etag|count|nextlink|navigationlink|associationlink|media\w++"
_NO_ANNOTATION = rf"(?!@(?!{_WRITES}\0)(?:{_QUALIFIED}|{_TELLS})\0)"
# No policy names a place so deep.
_DEEPEST = 16
_END = "\0"


def squeezed(name: str) -> str:
    """A name without what is hidden in it, case, `_`, `-` and blanks."""
    return unmarked(seen(name))


def _pieces(token: str) -> list[str]:
    """What stands between the marks of a pointer's token."""
    return [re.escape(piece) for piece in _MARKS.split(squeezed(token)) if piece] or [""]


def first_piece(name: str) -> str:
    """What two names of one token both have, if some reader takes one for the other: up to a mark behind it."""
    return _pieces(name)[0]


@lru_cache(maxsize=4096)
def _twins(way: tuple[str, ...]) -> re.Pattern[str]:
    """What finds the names that lead to a place on the way, in any spelling, or beyond its end."""
    pieces = [piece for token in way[:_DEEPEST] for piece in _pieces(token)][:_DEEPEST]
    pattern = f"{pieces.pop()}{_NO_ANNOTATION}(?:{_MARK}[^\0]*+)?"
    while pieces:
        pattern = f"{pieces.pop()}{_NO_ANNOTATION}(?:{_STEP}{pattern}|{_OTHER}[^\0]*+)?"
    return re.compile(f"\0{_MARK}*+{pattern}{_MARK}*+(?=\0)")


class Names:
    """The names of one object, taken together once for all pointers that lead through it. None of them has a NUL.

    `inherited` is one that objects inherit in JavaScript, or that leads through one. `may_operate`: one begins as
    operators do.
    """

    __slots__ = ("_names", "_text", "inherited", "may_operate")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        plain = [name if name.isascii() and name.isprintable() else seen(name) for name in self._names]
        text = f"{_END}{_END.join(plain)}{_END}"
        self.inherited: str | None = None
        if "proto" in text or "constructor" in text:
            self.inherited = next(self._found(_INHERITED, text), None)
        self.may_operate = f"{_END}$" in text
        self._text = unmarked(text)

    def twin(self, way: tuple[str, ...]) -> str | None:
        """A name that some readers take for the first token of a way, or for a place that it leads to."""
        return next((name for name in self.leading(way) if name != way[0]), None)

    def leading(self, way: tuple[str, ...]) -> Iterator[str]:
        """All names that lead to a place on the way to some readers, the first token's own too."""
        return self._found(_twins(way), self._text)

    def _found(self, pattern: re.Pattern[str], text: str) -> Iterator[str]:
        place = counted = 0
        for match in pattern.finditer(text):
            place += text.count(_END, counted, match.start())
            counted = match.start()
            yield self._names[place]
