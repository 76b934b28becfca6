"""Names in a query or a body by which some servers take another method or path than the request's own.

A request with one of them is two: a GET that deletes, or a write under another rule's name.
"""

import re
from collections.abc import Iterable

from gateway.policy.reading.hidden import seen

# Rails, Symfony, Laravel and WordPress (a GET too); ServiceStack and .NET; what override middlewares of Express and Koa
# look for in a query; Google's servers, which take any header so, too; Alfresco; PrestaShop. WordPress takes its whole
# path from `rest_route`.
OF_JSON = frozenset(
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
# Of a path, too: what Zope takes for a method of what the path names (`delete:method`, or `:method` by its value), and
# Struts in the other order (`method:delete`).
_BESIDE_COLONS = frozenset(("method", "action", "default_method", "default_action"))
# Grails: the action that follows takes the place of the path's.
_ACTION = "_action_"
OVERRIDING = OF_JSON | {f":{word}" for word in _BESIDE_COLONS} | {_ACTION}
# Of a form's fields, this one says in which coding all others are (HTML, section 4.10.21).
FORM_COMMANDS = OVERRIDING | {"_charset_"}
# Every one of them has one of these words; most requests have none.
_WORDS = (b"method", b"route", b"charset", b"httpheaders", b":action", b"action:", b"_action")
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


def _spellings(name: str) -> tuple[str, str, str]:
    """What PHP makes of a name, what those do to whom its first piece is the name (qs, Rack and their like), and of a
    name with another one in it what stands for all of these."""
    plain = seen(name.strip(_BLANKS)).casefold()
    return _as_php(plain), _first_piece(plain), _naming(plain)


def _first_piece(name: str) -> str:
    piece = _PIECE.search(name)
    return "" if piece is None else piece[0].strip(_BLANKS)


def _naming(name: str) -> str:
    """`:method` for whatever stands beside that colon, and its like; `.x` follows where an image is the button."""
    if ":" in name:
        own = map(_first_piece, name.split(":"))
        return next((f":{part}" for part in own if part in _BESIDE_COLONS), "")
    return _ACTION if name.startswith(_ACTION) else ""


def _as_php(name: str) -> str:
    """Dots, blanks and a bracket that is not closed are underscores to it; `.method` is `_method`."""
    before, _, behind = name.partition("[")
    return _MARKS.sub("_", before if "]" in behind else name)
