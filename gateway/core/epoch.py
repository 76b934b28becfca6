"""Epochs and the other exact 64-bit counters (sequence, revision): one grammar, read once at the edge."""

from typing import NewType

Epoch = NewType("Epoch", int)

HIGHEST = (1 << 64) - 1


def parse_u64(text: str) -> int | None:
    """Read an unsigned 64-bit integer spelled in ASCII digits, without sign or leading zero; None if it is not one.

    `int()` is not asked first: it takes signs, underscores, blanks and every Unicode digit.
    """
    if not 0 < len(text) <= 20 or not (text.isascii() and text.isdigit()) or (text[0] == "0" and len(text) > 1):
        return None
    value = int(text)
    return value if value <= HIGHEST else None
