"""Paths that a server takes for those of a program which is named in another way.

PHP, CGI, ASP.NET and ColdFusion run `/cron.php` for `/cron.php/x`, too, and hand it what follows (RFC 3875, section
4.1.5); for a directory, `/admin/`, servers run the `index.php` in it.
"""

import re
from collections.abc import Iterable, Iterator

from gateway.policy.pattern import Pattern
from gateway.policy.shortened_path import PROGRAM_ENDING

_PROGRAM = re.compile(f".*{PROGRAM_ENDING}", re.IGNORECASE | re.DOTALL)
# Apache's `DirectoryIndex`, nginx's `index`, IIS's default documents and the welcome files of servlets.
_INDEX = re.compile(
    rf"(?:index|default)(?:{PROGRAM_ENDING}|\.[sx]?html?|\.jspx?)|iisstart\.html?", re.IGNORECASE | re.DOTALL
)
_Segments = tuple[str, ...]


def is_program(segment: str) -> bool:
    return _PROGRAM.fullmatch(segment) is not None


def is_index(segment: str) -> bool:
    return _INDEX.fullmatch(segment) is not None


def program_named(pattern: Pattern) -> str | None:
    """The program's name, or that of a directory's index, that a pattern ends with; None if it ends otherwise."""
    last = pattern.segments[-1] if pattern.segments and pattern.rest is None else None
    return last if last is not None and (is_program(last) or is_index(last)) else None


def programs_run(segments: _Segments) -> Iterator[_Segments]:
    """The path of each program that may be run with what follows it."""
    return (segments[:end] for end in range(1, len(segments)) if is_program(segments[end - 1]))


class Programs:
    """Those with which some patterns end. False where none does: nothing has to be looked at then."""

    __slots__ = ("_any", "_indices")

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        named = set(filter(None, map(program_named, patterns)))
        self._any = any(map(is_program, named))
        self._indices = tuple(sorted(filter(is_index, named)))

    def __bool__(self) -> bool:
        return self._any or bool(self._indices)

    def meant_by(self, segments: _Segments) -> Iterator[_Segments]:
        """The paths of programs that some server runs for another path; of those in a directory, what is named."""
        if self._any:
            yield from programs_run(segments)
        for index in self._indices:
            yield (*segments, index)
