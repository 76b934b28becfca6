"""A path as the most lenient server reads it: every escape undone, however often it was made, and encoded slashes too.

Proxies in front of a server undo one escape more than it does itself, or take `%2F` and `%5C` for a slash.
"""

import re
from urllib.parse import unquote

from gateway.core.target import Target

_SLASHES = re.compile(r"[/\\]")
# Each proxy on the way undoes one; nobody has so many of them.
_MOST_ESCAPES = 8


def decoded_segments(target: Target) -> tuple[str, ...]:
    """Its segments, without empty ones and dot segments."""
    path = target.path
    for _ in range(_MOST_ESCAPES):
        if "%" not in path:
            break
        path = unquote(path)
    segments: list[str] = []
    for piece in _SLASHES.split(path):
        if piece == "..":
            del segments[-1:]
        elif piece not in ("", "."):
            segments.append(piece)
    return tuple(segments)
