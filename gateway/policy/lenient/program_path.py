"""Paths that a server takes for those of a program which is named in another way, and which may be another rule's.

PHP, CGI, ASP.NET and ColdFusion run `/cron.php` for `/cron.php/x`, too, and hand it what follows (RFC 3875, section
4.1.5); for a directory, `/admin/`, servers run the `index.php` in it. Here `/cron.php/x` falls to `/{page}/{part}`.
"""

from collections.abc import Iterable, Iterator

from gateway.core.decision import AMBIGUOUS_TARGET, OF_PATHS, Refused
from gateway.core.target import Target
from gateway.policy.lenient.decoded_path import plain_and_decoded
from gateway.policy.lenient.patterns import LenientPatterns
from gateway.policy.lenient.program_name import is_index, is_program
from gateway.policy.pattern import Pattern, by_method

_Segments = tuple[str, ...]
_OF_A_PROGRAM = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: a server that runs a program for what stands behind its name (`/cron.php/x`), or for its "
    "directory (`/admin/` for `/admin/index.php`), finds another rule's here. Send the path of the one that is meant.",
    OF_PATHS,
)


def program_named(pattern: Pattern) -> str | None:
    """The program's name, or that of a directory's index, that a pattern ends with; None if it ends otherwise."""
    last = pattern.segments[-1] if pattern.segments and pattern.rest is None else None
    return last if last is not None and (is_program(last) or is_index(last)) else None


def programs_run(segments: _Segments) -> Iterator[_Segments]:
    """The path of each program that may be run with what follows it."""
    return (segments[:end] for end in range(1, len(segments)) if is_program(segments[end - 1]))


class Programs:
    """Those with which some patterns end. False where none does: nothing has to be looked at then."""

    __slots__ = ("_any", "_indices", "_longest")

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        own = tuple(patterns)
        named = set(filter(None, map(program_named, own)))
        # What goes on behind is no pattern's with a program, and each program in it costs as much as stands before it.
        self._longest = 1 + max((len(pattern.segments) for pattern in own), default=0)
        self._any = any(map(is_program, named))
        self._indices = tuple(sorted(filter(is_index, named)))

    def __bool__(self) -> bool:
        return self._any or bool(self._indices)

    def meant_by(self, segments: _Segments) -> Iterator[_Segments]:
        """The paths of programs that some server runs for another path; of those in a directory, what is named."""
        segments = segments[: self._longest]
        if self._any:
            yield from programs_run(segments)
        for index in self._indices:
            yield (*segments, index)


class ProgramPaths:
    """Which rule's programs are meant, by method: of those by which some pattern ends with one."""

    __slots__ = ("_by_method",)

    def __init__(self, patterns: Iterable[Pattern]) -> None:
        named = ((method, own, Programs(own)) for method, own in by_method(patterns).items())
        self._by_method = {method: (programs, LenientPatterns(own)) for method, own, programs in named if programs}

    def refusal(self, method: str, taker: Pattern, target: Target) -> Refused | None:
        """Of a path that `taker` takes, and that is another pattern's program. What the taker itself names there, in
        text, is meant as it is."""
        if method not in self._by_method:
            return None
        programs, patterns = self._by_method[method]
        for segments in plain_and_decoded(target):
            for run in programs.meant_by(segments):
                found = patterns.first(run)
                is_named = found is not None and not found.ends_open and found.shape != taker.lenient.shape
                if is_named and not _is_text(taker, min(len(run), len(segments)) - 1):
                    return _OF_A_PROGRAM
        return None


def _is_text(taker: Pattern, place: int) -> bool:
    """The root, before any segment, counts as text where no rest takes it."""
    return taker.rest is None if place < 0 else taker.names_text(place)
