"""What is left of a path to a server that takes its end for a format.

Rails takes what stands behind the last dot for one, Spring's suffix patterns all behind the first. React Router cuts
`.data` off twice, and reads what is left anew: of `/docs/.data` that is `/docs`, of `/docs/7/...data` too. So it is of
`/docs/_.data` and `/docs/_.rsc`, to newer ones.
"""

from collections.abc import Iterator

# Windows cuts them off a name.
_BLANKS = " ."
# React Router's name for what stands before it, where only a format follows.
_ITSELF = "_"
# Of more of them nobody makes anything; each costs as much as the path is long.
_MOST_ENDINGS = 6


def without_formats(segment: str) -> Iterator[str]:
    """A segment without its last ending, without the one before that, and without all of them."""
    shorter = segment
    for _ in range(_MOST_ENDINGS):
        left = _cut(shorter)
        if left == shorter:
            return
        shorter = left
        yield shorter
    yield segment.partition(".")[0].rstrip(_BLANKS)


def paths_without_format(segments: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """As `without_formats`, of a path's last segment. A segment of which nothing is left is none, and two dots take
    the one before them away; what then is the last may have an ending, too."""
    if segments and "." in segments[-1]:
        yield _with_last(segments, segments[-1].partition(".")[0].rstrip(_BLANKS))
    for _ in range(_MOST_ENDINGS):
        last = segments[-1] if segments else ""
        left = _cut(last)
        if left == last:
            return
        segments = segments[:-2] if left == ".." else _with_last(segments, left.rstrip(_BLANKS))
        yield segments
        if left == _ITSELF:
            yield segments[:-1]


def _with_last(segments: tuple[str, ...], last: str) -> tuple[str, ...]:
    return (*segments[:-1], last) if last else segments[:-1]


def _cut(segment: str) -> str:
    bare = segment.rstrip(_BLANKS)
    if bare != segment:
        return bare
    stem, dot, _ = segment.rpartition(".")
    return stem if dot else segment
