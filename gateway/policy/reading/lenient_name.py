"""What lenient readers make of the name of a query parameter or of a form's field.

Case, `_`, `-`, what nobody sees, and brackets count in some of them only: `a`, `A`, `a[]`, `[a]`, `a]` and `a.b` are
one name here and there, and `docId` and `doc_id` to FastAPI with camel-case aliases. Spring takes `!a` for `a`, OData
`$a`; Zope reads `a:int` as an `a` of a type, Rails `a(1i)` as a part of it. To what is written in C it ends at a NUL;
PHP reads dots, blanks and open brackets in it as underscores.
"""

import re
from itertools import islice
from string import punctuation

from gateway.policy.reading.caseless import caseless
from gateway.policy.reading.hidden import seen

_PIECE = re.compile(r"[^\[\].:(]+")
_BLANKS = " \t\0"
# No policy names a place so deep; the readings of a name take time with the square of it.
_DEEPEST = 16


def folded(name: str) -> str:
    """One name for all spellings of which some reader takes one for another: by it a rule's own name is looked up."""
    if name.isascii() and name.isidentifier():
        return name.casefold().replace("_", "")
    return "".join(map(_squeezed, _pieces(name)))


def readings(name: str) -> tuple[str, ...]:
    """All that some reader takes a name for that was sent, folded, each once: `a[b].c` is `a`, `ab` or `abc`, and
    `!a:int` is `a` or `aint`."""
    if name.isascii() and name.isidentifier():
        return (name.casefold().replace("_", ""),)
    pieces = [_squeezed(piece) for piece in _pieces(name)]
    return tuple(dict.fromkeys("".join(pieces[:end]) for end in range(1, len(pieces) + 1)))


def is_unclosed(name: str) -> bool:
    """Whether a bracket in a name is not closed: `a[b` is `a_b` to PHP, and `a` or `a[b` to others."""
    _, bracket, rest = name.partition("[")
    return bool(bracket) and "]" not in rest


def _squeezed(piece: str) -> str:
    """Without what may stand before a name, and without the marks within it."""
    return piece.lstrip(punctuation).replace("_", "").replace("-", "")


def _pieces(name: str) -> list[str]:
    """What stands between its marks, without what is empty."""
    found = islice(_PIECE.finditer(seen(name.strip(_BLANKS))), _DEEPEST)
    pieces = (caseless(piece[0].strip(_BLANKS)) for piece in found)
    return [piece.replace(" ", "_") for piece in pieces if piece]
