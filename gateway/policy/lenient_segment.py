"""A segment of a path as the most lenient servers compare it: without case and without marks.

CherryPy and TurboGears make an underscore of each mark in a method's name: what is called `publish_all` runs at
`/docs/publish-all` and `/docs/publish.all`, too. CakePHP takes a word's capital for a mark, and several marks for one:
`publish-all` runs at `/docs/publishAll`, `/docs/publish--all` and `/docs/-publish-all-`.
"""

from string import punctuation

from gateway.policy.reading.caseless import caseless

_MARKS = str.maketrans("", "", punctuation)
_PLAIN_MARKS = punctuation.encode()
_LOWER = bytes(range(256)).lower()
_ONLY_MARKS = "_"


def lenient_segment(text: str) -> str:
    """Equal for all that some server takes for one. Of marks alone one is left: it is no empty segment."""
    if text.isascii():
        # In a fifth of the time, and nearly all has ASCII only.
        plain = text.encode("ascii").translate(_LOWER, _PLAIN_MARKS).decode("ascii")
    else:
        plain = caseless(text).translate(_MARKS)
    return plain or (text and _ONLY_MARKS)


def lenient_segments(segments: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(lenient_segment, segments))
