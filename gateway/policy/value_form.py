"""How the values that name a resource are spelled, where an API's ids are known to have one spelling each.

To what reads numbers, `7`, `07` and `+7` are one, and so are a UUID in capitals, in braces and without its dashes to
what reads UUIDs; `7:archive`, `7,8` and `*` name more than one thing, or an action. `RG9jOjc=`, `RG9jOjd=` and
`RG9j!Ojc=` are one text to most readers of base64.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from gateway.policy.reading.number import coded_number, plain_number

# `unreserved`: the characters of RFC 3986, section 2.3, which need no escape and are no delimiters. `integer`: no sign,
# no leading zero. `word`: ASCII letters, digits, `_` and `-`; `lowercase`: without capitals; `uppercase`: without small
# ones. `base64`: RFC 4648, section 4, padded; `base64url`: section 5, unpadded; neither with bits that nobody reads.
# `date`: as RFC 3339, section 5.6, writes it. `uuid`: as RFC 9562, section 4, writes it, in small letters. `ulid`: as
# its specification writes it.
# `unpadded`: an integer in plain digits of any length, or what is no number.
NamedForm = Literal[
    "any",
    "unreserved",
    "word",
    "lowercase",
    "uppercase",
    "integer",
    "unpadded",
    "date",
    "uuid",
    "ulid",
    "base64",
    "base64url",
]
# Or all the values that there are: ASP.NET takes an enum's `red` as `RED` and `0` too.
ValueForm = NamedForm | frozenset[str]

_INTEGER = re.compile("0|[1-9][0-9]*")
_CODED = re.compile("[+-]?0[xob]", re.IGNORECASE)


def _base64(character: str, padding: str) -> re.Pattern[str]:
    """Four characters are three bytes; of the last of two or three the bits beyond whole bytes are zero (section
    3.5)."""
    four, two, three = f"{character}{{4}}", f"{character}[AQgw]", f"{character}{{2}}[AEIMQUYcgkosw048]"
    return re.compile(f"(?:{four})*(?:{four}|{two}{padding * 2}|{three}{padding})")


# What is of a form, and what to say of what is not.
_SPELLED: Mapping[str, tuple[re.Pattern[str], str]] = {
    "unreserved": (re.compile("[0-9A-Za-z._~-]+"), "has more in it than letters, digits, `-`, `.`, `_` and `~`"),
    "word": (re.compile("[0-9A-Za-z_-]+"), "has more in it than letters, digits, `_` and `-`"),
    "lowercase": (re.compile("[0-9a-z_-]+"), "has more in it than small letters, digits, `_` and `-`"),
    "uppercase": (re.compile("[0-9A-Z_-]+"), "has more in it than capitals, digits, `_` and `-`"),
    # To readers of dates `20260105` and the seconds since 1970 are some, too.
    "date": (re.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}"), "is no date such as 2026-01-05"),
    "uuid": (
        re.compile("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}"),
        "is no UUID in small letters with its four dashes",
    ),
    # Crockford's base32, whose readers take `O` for 0, `I` and `L` for 1; 128 bits begin with no more than a 7.
    "ulid": (
        re.compile("[0-7][0-9A-HJKMNP-TV-Z]{25}"),
        "is no ULID in its 26 capitals and digits, without I, L, O and U",
    ),
    "base64": (
        _base64("[0-9A-Za-z+/]", padding="="),
        "is no base64 with its padding, of which no bit is left over",
    ),
    "base64url": (_base64("[0-9A-Za-z_-]", padding=""), "is no base64url without padding, or has bits left over"),
}
# Of a list, in a refusal.
_VALUES_SHOWN, _LENGTH_SHOWN = 8, 40
# Beyond what 64 bits hold some readers round, some stop at the largest and some begin anew.
_LARGEST = 2**63 - 1
_DIGITS = len(str(_LARGEST))


def misfit(form: ValueForm, value: str) -> str | None:
    """What keeps a value from being of the form; None where it is."""
    match form:
        case "any":
            return None
        case "unpadded":
            return "is a number, and no integer in plain digits" if _is_odd_number(value) else None
        case "integer":
            if not _INTEGER.fullmatch(value):
                return "is no integer in plain digits, without sign, point or leading zero"
            is_held = len(value) <= _DIGITS and int(value) <= _LARGEST
            return None if is_held else "is an integer that 64 bits do not hold"
        case frozenset():
            return None if value in form else f"is none of {some_values(form)}, which the policy lists"
    spelled, why = _SPELLED[form]
    return None if spelled.fullmatch(value) else why


def _is_odd_number(value: str) -> bool:
    """To pydantic `1_0` and `10.0` are 10, to JavaScript `1e1` and `0xA`."""
    if _INTEGER.fullmatch(value):
        return False
    return plain_number(value) is not None or (_CODED.match(value) is not None and coded_number(value) is not None)


def some_values(values: Iterable[str]) -> str:
    """Those of a list that a refusal has room for, in their order, and how many there are beside."""
    ordered = sorted(values)
    told = ", ".join(f"`{one[:_LENGTH_SHOWN]}`" for one in ordered[:_VALUES_SHOWN])
    more = len(ordered) - _VALUES_SHOWN
    return f"{told} and {more} more" if more > 0 else told
