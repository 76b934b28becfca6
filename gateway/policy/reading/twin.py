"""Names in one JSON object of which some reader takes one for another: twins, of which a rule sees only its own.

Case, `_` and `-` count in some readers only: FastAPI with camel-case aliases, Django REST and Spring take `docId` and
`doc_id` for one. A name with dots or brackets is a way to others: lodash takes `doc.id` before what is nested,
Eloquent writes `doc->id` into it. JSON-LD takes `@id` for `id` where its context says so; Rails puts `at(1i)`, `at(2i)`
together to one `at`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from string import punctuation

from gateway.policy.reading.caseless import caseless
from gateway.policy.reading.hidden import seen

# To JavaScript every object has members of these names: a copy of one with them may have others than it shows.
INHERITED = frozenset(("__proto__", "constructor", "prototype"))

# Of `->` only this is left without dashes.
_MARK, _EDGE = r"[.>\[\]\"'(]", r"[.>\[\]\"' ]"
# What may stand before a name.
_BEFORE = f"[{re.escape(punctuation)} ]*+"
_MARKS = re.compile(f"{_MARK}+")
_INHERITED = re.compile(rf"\0(?:[^\0]*{_MARK})? *+(?:{'|'.join(sorted(INHERITED))}) *+(?:{_MARK}[^\0]*)?(?=\0)")
# No policy names a place so deep.
_DEEPEST = 16
_END = "\0"


def squeezed(name: str) -> str:
    """A name without what is hidden in it, case, `_` and `-`."""
    return _squeezed(seen(name))


def _squeezed(text: str) -> str:
    return caseless(text).replace("_", "").replace("-", "")


@lru_cache(maxsize=4096)
def _twins(way: tuple[str, ...]) -> re.Pattern[str]:
    """What finds the names that lead to a place on the way, in any spelling, or beyond its end."""
    own = (squeezed(piece).lstrip(punctuation) for token in way for piece in _MARKS.split(token) if piece)
    pieces = list(map(re.escape, own)) or [""]
    pieces = pieces[:_DEEPEST]
    pattern = f"{pieces.pop()}(?:{_MARK}[^\0]*+)?"
    while pieces:
        pattern = f"{pieces.pop()}(?:{_MARK}{_BEFORE}{pattern})?"
    return re.compile(f"\0{_BEFORE}{pattern}{_EDGE}*+(?=\0)")


class Names:
    """The names of one object, taken together once for all pointers that lead through it. None of them has a NUL.

    `inherited` is one that objects inherit in JavaScript, or that leads through one.
    """

    __slots__ = ("_names", "_text", "inherited")

    def __init__(self, names: Iterable[str]) -> None:
        self._names = tuple(names)
        plain = [name if name.isascii() and name.isprintable() else seen(name) for name in self._names]
        text = f"{_END}{_END.join(plain)}{_END}"
        self.inherited: str | None = None
        if "proto" in text or "constructor" in text:
            self.inherited = next(self._found(_INHERITED, text), None)
        self._text = _squeezed(text)

    def twin(self, way: tuple[str, ...]) -> str | None:
        """A name that some readers take for the first token of a way, or for a place that it leads to."""
        return next((name for name in self._found(_twins(way), self._text) if name != way[0]), None)

    def _found(self, pattern: re.Pattern[str], text: str) -> Iterator[str]:
        for match in pattern.finditer(text):
            yield self._names[text.count(_END, 0, match.start())]
