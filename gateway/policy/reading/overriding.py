"""Names in a query or a body by which some servers take another method or path than the request's own.

A request with one of them is two: a GET that deletes, or a write under another rule's name.
"""

import re
from collections.abc import Iterable

from gateway.policy.reading.hidden import seen

# Rails, Symfony, Laravel and WordPress (a GET too); ServiceStack and .NET; what override middlewares of Express and Koa
# look for in a query; Google's servers, which take any header so, too; Alfresco; PrestaShop. WordPress takes its whole
# path from `rest_route`.
OVERRIDING = frozenset(
    (
        "_method",
        "_httpmethod",
        "x-http-method-override",
        "x-http-method",
        "x-method-override",
        "x-tunneled-method",
        "$httpmethod",
        "$httpheaders",
        "alf_method",
        "ps_method",
        "rest_route",
    )
)
# Of a form's fields, this one says in which coding all others are (HTML, section 4.10.21).
FORM_COMMANDS = OVERRIDING | {"_charset_"}
# Every one of them has one of these words; most requests have none.
_WORDS = (b"method", b"route", b"charset", b"httpheaders")
# Readers drop these: a word with one inside is the word to them.
_CONTROLS = bytes((*range(0x20), 0x7F))
_PIECE = re.compile(r"[^\[\].]+")
_MARKS = re.compile(r"[. \[]")
_BLANKS = " \t\0"


def overriding_among(names: Iterable[str], commands: frozenset[str] = OVERRIDING) -> str | None:
    """The one of `commands` for which some server takes one of `names`, decoded; None if it takes none so."""
    every = tuple(names)
    if not may_override(" ".join(every)):
        return None
    return next((spelled for name in every for spelled in _spellings(name) if spelled in commands), None)


def may_override(text: str) -> bool:
    """Whether a text without escapes may have one of the names, whatever else is in it; in a microsecond."""
    plain = text.encode("ascii", "ignore").translate(None, _CONTROLS).lower()
    return any(word in plain for word in _WORDS)


def _spellings(name: str) -> tuple[str, str]:
    """What PHP makes of a name, and what those do to whom its first piece is the name: qs, Rack and their like."""
    plain = seen(name.strip(_BLANKS)).casefold()
    piece = _PIECE.search(plain)
    return _as_php(plain), "" if piece is None else piece[0].strip(_BLANKS)


def _as_php(name: str) -> str:
    """Dots, blanks and a bracket that is not closed are underscores to it; `.method` is `_method`."""
    before, _, behind = name.partition("[")
    return _MARKS.sub("_", before if "]" in behind else name)
