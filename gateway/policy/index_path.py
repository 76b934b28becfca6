"""Paths that go on with what a server runs for the directory before it.

ASP.NET MVC, CakePHP, CodeIgniter, Yii, Laminas and CherryPy run the action `index` for `/docs` and for `/docs/index`,
servers of files have `index.html`, and ASP.NET's friendly URLs `default`.
"""

from collections.abc import Iterator

from gateway.policy.lenient_segment import lenient_segment
from gateway.policy.program_name import DEFAULT, INDEX, is_index


def names_index(segment: str) -> bool:
    return lenient_segment(segment) == INDEX or is_index(segment)


def names_directory(segments: tuple[str, ...], at: int) -> bool:
    """Whether the segment at this place stands for the path before it. `default` is the name of much else: it does so
    only where nothing follows."""
    if names_index(segments[at]):
        return True
    return at == len(segments) - 1 and lenient_segment(segments[at]) == DEFAULT


def directories(segments: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """The paths of which some server runs the index."""
    return (segments[:at] for at in range(len(segments)) if names_directory(segments, at))
