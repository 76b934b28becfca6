"""Paths that a server takes for those of a program which is named in another way.

PHP, CGI, ASP.NET and ColdFusion run `/cron.php` for `/cron.php/x`, too, and hand it what follows (RFC 3875, section
4.1.5); for a directory, `/admin/`, servers run the `index.php` in it.
"""

from collections.abc import Iterable, Iterator

from gateway.policy.pattern import Pattern
from gateway.policy.program_name import is_index, is_program

_Segments = tuple[str, ...]


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
