"""An encoded slash (`%2F`) with nothing on one of its sides, which many servers leave out, as they do `//`.

As a segment of its own it may be the name of something: RabbitMQ's first virtual host is `/`. To what reads an id there
nothing may be left of it, so that it passes where a pattern has it as text.
"""

from gateway.core.rule import Mount
from gateway.core.target import Target, has_empty_piece
from gateway.policy.pattern import Pattern

_SLASH = "/"
_REFUSED = (
    "the path has an encoded slash (%2F), which `mount.encoded_slash: refuse` refuses; write `encoded_slash: opaque` "
    "where it is none to the API"
)
_HALF = "no request with this passes: an encoded slash (%2F) has nothing beside it and is no whole segment; write it so"


def has_half_slash(target: Target) -> bool:
    """Whether a segment ends or begins with one, or has two of them on end: no pattern can mean that."""
    return any(segment != _SLASH and has_empty_piece(segment) for segment in target.segments)


def names_slashes(taker: Pattern, target: Target) -> bool:
    """Whether each segment that is a slash is text to the pattern."""
    return all(segment != _SLASH or taker.names_text(at) for at, segment in enumerate(target.segments))


def slash_fault(pattern: Pattern, mount: Mount) -> str | None:
    """Of a pattern whose text no write has. None: it has no such slash, or may have it."""
    texts = [text for text in pattern.segments if text is not None and _SLASH in text]
    if texts and mount.encoded_slash == "refuse":
        return _REFUSED
    return _HALF if any(text != _SLASH and has_empty_piece(text) for text in texts) else None
