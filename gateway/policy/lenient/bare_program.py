"""Programs without their ending, by which Apache's `MultiViews` and nginx's `try_files $uri $uri.php` find them."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gateway.policy.choice import Placed
from gateway.policy.lenient.program_name import program_stem
from gateway.policy.pattern import Pattern


def bare_programs(placed: Iterable[Placed]) -> Iterator[Placed]:
    """Those of the entries whose path ends with a program, by its bare name."""
    for one in placed:
        bare = _bare(one.pattern)
        if bare is not None:
            yield replace(one, pattern=bare)


def _bare(pattern: Pattern) -> Pattern | None:
    last = None if pattern.ends_open or not pattern.segments else pattern.segments[-1]
    stem = None if last is None else program_stem(last)
    return replace(pattern, segments=(*pattern.segments[:-1], stem)) if stem else None
