"""Whether an answer is one that a cache kept."""

from gateway.core.request import HeaderPairs, Headers


def is_stored(headers: HeaderPairs) -> bool:
    """By the cache's own word: `Age` (RFC 9111, section 5.1), which one that has just asked says is 0."""
    return Headers(headers).first(b"age") not in (None, b"0")
