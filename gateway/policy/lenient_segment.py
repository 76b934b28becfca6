"""A segment of a path as the most lenient servers compare it: without case, and with one mark for every other.

CherryPy and TurboGears find a method of Python's by a segment, and make an underscore of each mark in it: what is
called `publish_all` runs at `/docs/publish-all` and `/docs/publish.all`, too.
"""

from string import punctuation

from gateway.policy.reading.caseless import caseless

_MARKS = str.maketrans(dict.fromkeys(punctuation, "_"))
# Of both at once, for what has ASCII only, as nearly all has: in a quarter of the time.
_PLAIN = bytes(range(256)).lower().translate(bytes.maketrans(punctuation.encode(), b"_" * len(punctuation)))


def lenient_segment(text: str) -> str:
    """Equal for all that some server takes for one."""
    if text.isascii():
        return text.encode("ascii").translate(_PLAIN).decode("ascii")
    return caseless(text).translate(_MARKS)


def lenient_segments(segments: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(lenient_segment, segments))
