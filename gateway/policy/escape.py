"""How a value is spelled inside a resource: so that two values, or two ways to cut one text, never read the same."""

import re
from collections.abc import Mapping, Sequence

# A slash separates the parts of a resource, a percent sign begins an escape, and a control character would split a
# line of a log. All else, whatever its script, stays as it is.
_RESERVED = "/%" + "".join(map(chr, [*range(0x20), *range(0x7F, 0xA0)]))
_ESCAPE = re.compile("((?:%[0-9A-F]{2})+)")


def escapes(stop: str = "") -> Mapping[int, str]:
    """The table for `str.translate`. `stop` is the character behind the value, which therefore must not be in it."""
    return {ord(ch): "".join(f"%{byte:02X}" for byte in ch.encode()) for ch in _RESERVED + stop}


PLAIN = escapes()


def escaped(value: str, table: Mapping[int, str] = PLAIN) -> str:
    return value if value.isalnum() else value.translate(table)


def escaped_path(segments: Sequence[str]) -> str:
    """The segments, each escaped, with slashes between them."""
    path = "/".join(segments)
    if "%" not in path and path.isprintable() and path.count("/") == len(segments) - 1:
        return path
    return "/".join(map(escaped, segments))


def unescaped(text: str, table: Mapping[int, str] = PLAIN) -> str | None:
    """The value that `escaped` spells as `text`; None if it spells none so."""
    if "%" not in text:
        return text if text.translate(table) == text else None
    parts = _ESCAPE.split(text)
    try:
        for at in range(1, len(parts), 2):
            parts[at] = bytes.fromhex(parts[at].replace("%", "")).decode("utf-8")
    except UnicodeDecodeError:
        return None
    value = "".join(parts)
    return value if value.translate(table) == text else None
