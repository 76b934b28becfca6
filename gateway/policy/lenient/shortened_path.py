"""Paths of which some server drops a segment, or a segment's ending, before it looks for what is meant.

PHP, CGI, ASP.NET and ColdFusion find the program `index.php` in `/index.php/admin/purge` and hand it what follows (RFC
3875, section 4.1.5); where a file serves a path without its ending, `/admin.php/purge` is `/admin/purge`. ASP.NET takes
`(S(x))` anywhere for a session without a cookie. Such a path may be another rule's: to them `/index.php/admin/purge` is
`/admin/purge`, which here falls to `/{rest...}`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from gateway.core.target import Target
from gateway.policy.lenient.patterns import LenientPatterns
from gateway.policy.lenient.program_name import DEFAULT, INDEX, PROGRAM_ENDING, is_program, program_stem
from gateway.policy.pattern import Pattern, by_method, split_slash

# Of ASP.NET 1.x it is an id of 24 characters, and later one or more of such as `S(id)`.
_SESSION = re.compile(r"\((?:(?:[A-Z]\([^()]*\))+|[0-9a-z]{24})\)", re.IGNORECASE)
_SESSION_WITHIN = re.compile(r"\((?:[AFSX]\([^()]*\))+\)", re.IGNORECASE)
_EITHER = re.compile(rf"{PROGRAM_ENDING}\.*(?:/|\Z)|/\(", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shortened:
    """What is left of a path. `places`: at which of its segments each of these stood."""

    segments: tuple[str, ...]
    places: tuple[int, ...]


def may_be_shortened(path: str) -> bool:
    """Whether a path as it came may have such a segment; nearly none has."""
    return "%" in path or (("." in path or "(" in path) and _EITHER.search(path) is not None)


def hides_session(target: Target) -> bool:
    """Whether a session is a part of a segment: older ASP.NET joins what stands before and behind it (CVE-2023-36899),
    so that `/ad/(S(x))min` is `/admin` to it."""
    if "(" not in target.path and "%28" not in target.path:
        return False
    return any(_SESSION_WITHIN.search(one) and not _SESSION.fullmatch(one) for one in target.segments)


def shortened(segments: tuple[str, ...], texts: Sequence[str | None] = ()) -> frozenset[Shortened]:
    """The ways in which servers shorten it. `texts`: what a rule itself names at some places, which is meant so.

    Of several programs the first is run, and what follows is its to read: that one alone, and all of them, are tried.
    """
    places = tuple(at for at in _droppable(segments) if at >= len(texts) or texts[at] is None)
    if not places:
        return frozenset()
    ways = {_without(segments, some, cut=cut) for some in (places[:1], places) for cut in (False, True)}
    return frozenset(way for way in ways if way.segments != segments)


def _droppable(segments: tuple[str, ...]) -> Iterator[int]:
    return (at for at, segment in enumerate(segments) if is_program(segment) or _SESSION.fullmatch(segment))


def _without(segments: tuple[str, ...], places: tuple[int, ...], *, cut: bool) -> Shortened:
    """`cut`: of programs only the endings are dropped."""
    left: list[tuple[str, int]] = []
    dropped = frozenset(places)
    for at, segment in enumerate(segments):
        stem = program_stem(segment) if at in dropped else None
        if at not in dropped:
            left.append((segment, at))
        elif cut and stem:
            left.append((stem, at))
        elif stem is not None and at == len(segments) - 1 and stem.lower() not in (INDEX, DEFAULT):
            left.append((segment, at))
    return Shortened(tuple(segment for segment, _ in left), tuple(at for _, at in left))


class ShortenedPaths:
    """Which rule's paths are meant, by method."""

    __slots__ = ("_by_method",)

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        self._by_method = {method: LenientPatterns(own) for method, own in by_method(patterns).items()}

    def lead_astray(self, method: str, taker: Pattern, target: Target) -> bool:
        """Whether what is left of the target is another pattern's than the one that takes it, and no less exactly."""
        if not may_be_shortened(target.path):
            return False
        segments, _ = split_slash(target)
        for way in shortened(segments, taker.segments):
            found = self._by_method[method].first(way.segments)
            if found is not None and found.shape != taker.lenient.shape and _is_as_exact(found, taker, way.places):
                return True
        return False


def _is_as_exact(found: Pattern, taker: Pattern, places: tuple[int, ...]) -> bool:
    """Whether no segment that is left is text to the taker and any to the other: `lock` in `/files/a.php/lock` is no
    file to `/files/{name}/lock`, though `/files/{name}` is there."""
    return all(found.openness(at) <= taker.openness(place) for at, place in enumerate(places))
