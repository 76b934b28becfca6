"""What lenient readers make of the name of a query parameter or of a form's field.

Case, `_`, `-`, what nobody sees, and punctuation count in some of them only: `a`, `A`, `a[]`, `[a]`, `a]` and `a.b` are
one name here and there, and `docId` and `doc_id` to FastAPI with camel-case aliases. Spring takes `!a` for `a`, OData
`$a`, and `??a` is what some make of a query's second mark; Zope reads `a:int` as an `a` of a type, Rails `a(1i)` as a
part of it, PocketBase `a+` as a change of it. So a name is also what stands before its first mark. To what is written
in C it ends at a NUL; PHP reads dots, blanks and open brackets in it as underscores.
"""

import re
from itertools import islice
from string import punctuation

from gateway.policy.reading.caseless import unmarked
from gateway.policy.reading.hidden import seen

# No marks, but those that are dropped.
_PIECE = re.compile(f"[^{re.escape(punctuation.replace('_', '').replace('-', ''))}]+")
_BLANKS = " \t\0"
# Struts gives a field a value by these where nothing else does.
_BEFORE = re.compile("__(?:checkbox|multiselect|year|month|day|hour|minute|second|millisecond)_")
# `$set[a]` sets `a` where a form becomes what MongoDB is told.
_OPERATOR = re.compile(r"[\[ ]*\$")
# No policy names a place so deep; the readings of a name take time with the square of it.
_DEEPEST = 16


def folded(name: str) -> str:
    """One name for all spellings of which some reader takes one for another: by it a rule's own name is looked up."""
    if name.isascii() and (name.isidentifier() or name.isalnum()):
        return name.casefold().replace("_", "")
    return "".join(_pieces(name))


def readings(name: str) -> tuple[str, ...]:
    """All that some reader takes a name for that was sent, folded, each once: `a[b].c` is `a`, `ab` or `abc`, and
    `!a:int` is `a` or `aint`."""
    if name.isascii() and (name.isidentifier() or name.isalnum()) and not name.startswith("__"):
        return (name.casefold().replace("_", ""),)
    before = _BEFORE.match(name)
    ways = _ways(_pieces(name))
    if before is not None:
        ways += _ways(_pieces(name[before.end() :]))
    elif _OPERATOR.match(name):
        ways += _ways(_pieces(name)[1:])
    return tuple(dict.fromkeys(ways))


def is_unclosed(name: str) -> bool:
    """Whether a bracket in a name is not closed: `a[b` is `a_b` to PHP, and `a` or `a[b` to others."""
    _, bracket, rest = name.partition("[")
    return bool(bracket) and "]" not in rest


def _ways(pieces: list[str]) -> list[str]:
    return ["".join(pieces[:end]) for end in range(1, len(pieces) + 1)]


def _pieces(name: str) -> list[str]:
    """What stands between its marks, without what is empty; of a name that is nothing but marks, these."""
    plain = seen(name.strip(_BLANKS))
    found = [piece for one in islice(_PIECE.finditer(plain), _DEEPEST) if (piece := one[0].strip(_BLANKS))]
    return [unmarked(piece) for piece in found or filter(None, (plain,))]
