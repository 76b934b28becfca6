"""How the values that name a resource are spelled, where an API's ids are known to have one spelling each.

To what reads numbers, `7`, `07` and `+7` are one, and so are a UUID in capitals, in braces and without its dashes to
what reads UUIDs; `7:archive`, `7,8` and `*` name more than one thing, or an action.
"""

import re
from typing import Literal

# `integer`: no sign, no leading zero. `word`: ASCII letters, digits, `_` and `-`; `lowercase`: without capitals.
# `uuid`: as RFC 9562, section 4, writes it, in small letters. `unpadded`: whatever is no number with a leading zero.
ValueForm = Literal["any", "word", "lowercase", "integer", "unpadded", "uuid"]

_WORD = re.compile("[0-9A-Za-z_-]+")
_LOWERCASE = re.compile("[0-9a-z_-]+")
_INTEGER = re.compile("0|[1-9][0-9]*")
_PADDED = re.compile("0[0-9]+")
_UUID = re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# Beyond what 64 bits hold some readers round, some stop at the largest and some begin anew.
_LARGEST = 2**63 - 1
_DIGITS = len(str(_LARGEST))


def misfit(form: ValueForm, value: str) -> str | None:
    """What keeps a value from being of the form; None where it is."""
    match form:
        case "any":
            return None
        case "word":
            return None if _WORD.fullmatch(value) else "has more in it than letters, digits, `_` and `-`"
        case "lowercase":
            return None if _LOWERCASE.fullmatch(value) else "has more in it than small letters, digits, `_` and `-`"
        case "uuid":
            return None if _UUID.fullmatch(value) else "is no UUID in small letters with its four dashes"
        case "unpadded":
            return "is a number with a leading zero" if _PADDED.fullmatch(value) else None
        case "integer":
            if not _INTEGER.fullmatch(value):
                return "is no integer in plain digits, without sign, point or leading zero"
            is_held = len(value) <= _DIGITS and int(value) <= _LARGEST
            return None if is_held else "is an integer that 64 bits do not hold"
