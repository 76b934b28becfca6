"""The number that a text spells, in whatever way some reader takes it for one: as a double has it.

What differs behind the 17th digit is one number to FastAPI's `float` and to JavaScript; zeros before and behind it may
be as many as anybody likes.
"""

import re
from math import inf

# With these begins what is a number in ASCII.
BEGIN_NUMBERS = frozenset("0123456789+-._#")
_PLAIN = re.compile(r"[+-]?(?=\.?\d)\d*+\.?\d*+(?:e[+-]?\d++)?", re.IGNORECASE)
_HEXADECIMAL = re.compile(r"([+-]?)(?:0x|#)([0-9a-f]*+\.?[0-9a-f]*+(?:p[+-]?[0-9]++)?)")
_IN_BITS = re.compile("[+-]?0(?:o[0-7]++|b[01]++)")
_SUFFIXES = ("d", "f", "l")


def plain_number(text: str) -> float | None:
    """To readers who take signs, zeros, exponents, digits of any script and `_` between them. Django drops `.0` at its
    end, and then the blanks before it."""
    plain = "".join(text.split()).replace("_", "")
    return float(plain) if _PLAIN.fullmatch(plain) else None


def coded_number(text: str) -> float | None:
    """As programs spell it: JavaScript's `0xA`, `0o12` and `0b1010`, Java's `#A` and `10d`, Go's `0x1.4p3`."""
    plain = text.strip().replace("_", "").lower()
    hexadecimal = _HEXADECIMAL.fullmatch(plain)
    try:
        if hexadecimal is not None:
            return float.fromhex("".join(hexadecimal.groups()))
        if _IN_BITS.fullmatch(plain):
            return float(int(plain, 0))
    except ValueError:
        return None
    except OverflowError:
        return inf
    return plain_number(plain[:-1]) if plain.endswith(_SUFFIXES) else None
