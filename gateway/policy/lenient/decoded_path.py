"""A path as the most lenient server reads it: every escape undone, however often it was made, and encoded slashes too.

Proxies in front of a server undo one escape more than it does itself, or take `%2F` and `%5C` for a slash; servers drop
what stands behind a semicolon or a NUL in a segment, and blanks at its end.
"""

import re
from collections.abc import Iterator
from urllib.parse import unquote

from gateway.core.target import Target
from gateway.policy.pattern import split_slash
from gateway.policy.reading.hidden import seen

_SLASHES = re.compile(r"[/\\]")
# Each proxy on the way undoes one; nobody has so many of them.
_MOST_ESCAPES = 8
_DOTS = (".", "..")


def decoded_segments(target: Target, *, opaque_slash: bool = False) -> tuple[str, ...]:
    """Its segments, without empty ones and dot segments. `opaque_slash`: an encoded slash is none to the server."""
    segments: list[str] = []
    for piece in _pieces(target, opaque_slash=opaque_slash):
        if piece == "..":
            del segments[-1:]
        elif piece not in ("", "."):
            segments.append(piece)
    return tuple(segments)


def plain_and_decoded(target: Target) -> Iterator[tuple[str, ...]]:
    """Its segments as they came, and where it has escapes, as `decoded_segments`."""
    yield split_slash(target)[0]
    if "%" in target.path:
        yield decoded_segments(target)


def is_escaped_twice(target: Target) -> bool:
    """Whether it may have an escape that is there only once another one is undone; `100%25` looks so, too."""
    return "%25" in target.path


def hides_dots(target: Target) -> bool:
    """Whether some escape of an escape makes a dot segment. Plainer ones were refused when the target was read."""
    return is_escaped_twice(target) and any(piece in _DOTS for piece in _pieces(target, opaque_slash=False))


def _pieces(target: Target, *, opaque_slash: bool) -> list[str]:
    path = target.path
    if opaque_slash:
        every = [piece for part in path.split("/") for piece in undone(part).split("\\")]
    else:
        every = _SLASHES.split(undone(path))
    return [seen(piece.partition(";")[0]) for piece in every]


def undone(text: str) -> str:
    """A text without its escapes, and theirs."""
    for _ in range(_MOST_ESCAPES):
        once = unquote(text) if "%" in text else text
        if once == text:
            break
        text = once
    return text
