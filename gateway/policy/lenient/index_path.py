"""Paths that go on with what a server runs for the directory before it, and may be another rule's.

ASP.NET MVC, CakePHP, CodeIgniter, Yii, Laminas and CherryPy run the action `index` for `/docs` and for `/docs/index`,
servers of files have `index.html`, and ASP.NET's friendly URLs `default`. To them `/docs/index` is `/docs`, which here
falls to `/docs/{id}`.
"""

from collections.abc import Iterable, Iterator

from gateway.core.decision import AMBIGUOUS_TARGET, OF_PATHS, Refused
from gateway.core.target import Target
from gateway.policy.lenient.decoded_path import plain_and_decoded
from gateway.policy.lenient.patterns import LenientPatterns
from gateway.policy.lenient.program_name import DEFAULT, INDEX, is_index
from gateway.policy.lenient.segment import lenient_segment
from gateway.policy.pattern import Pattern, by_method

_OF_A_DIRECTORY = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that runs `index` for what stands before it (`/docs/index` for `/docs`) this "
    "is another rule's path. Send that path without it; where it is meant, a rule has to name it in text.",
    OF_PATHS,
)


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


class IndexPaths:
    """Which rule's index is meant, by method: of those by which some rule's path ends in text."""

    __slots__ = ("_by_method",)

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._by_method = {
            method: LenientPatterns(own)
            for method, own in by_method(patterns).items()
            if not all(pattern.ends_open for pattern in own)
        }

    def refusal(self, method: str, taker: Pattern, target: Target) -> Refused | None:
        """Of a path that `taker` takes. A path that ends in a placeholder is no action's: `/{bucket}` has a file
        `index.html` like any other."""
        if method not in self._by_method or not taker.ends_open:
            return None
        for segments in plain_and_decoded(target):
            if segments and names_index(segments[-1]):
                found = self._by_method[method].first(segments[:-1])
                if found is not None and not found.ends_open:
                    return _OF_A_DIRECTORY
        return None
