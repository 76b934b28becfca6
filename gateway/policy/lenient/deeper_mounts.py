"""Mounts below another one, and the paths at which a server that reads leniently finds them: they are not the other's.

Two policies of one server are told apart by its paths, and it may tell neither case nor marks nor escapes, or drop a
part of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from gateway.core.rule import Mount
from gateway.core.target import Target
from gateway.policy.lenient.cut_format import without_formats
from gateway.policy.lenient.cut_path import cut_target, target_before_blank
from gateway.policy.lenient.decoded_path import decoded_segments
from gateway.policy.lenient.program_name import is_index
from gateway.policy.lenient.segment import lenient_segment, lenient_segments
from gateway.policy.lenient.shortened_path import may_be_shortened, shortened
from gateway.policy.pattern import split_slash

_Segments = tuple[str, ...]


def _as_it_is(segment: str) -> tuple[str]:
    return (segment,)


class DeeperMounts:
    """Tells in a look-up for each depth of a mount. `opaque_slash`: of the mount above them."""

    __slots__ = ("_by_folded", "_directories", "_lengths", "_opaque_slash")

    def __init__(self, mounts: Iterable[Mount], *, opaque_slash: bool) -> None:
        found: defaultdict[_Segments, list[Mount]] = defaultdict(list)
        for mount in mounts:
            found[lenient_segments(mount.segments)].append(mount)
        self._by_folded: Mapping[_Segments, Sequence[Mount]] = dict(found)
        self._lengths = tuple({len(segments) for segments in found})
        indices = (mount.segments for mounted in found.values() for mount in mounted if is_index(mount.segments[-1]))
        self._directories = frozenset(lenient_segments(segments[:-1]) for segments in indices)
        self._opaque_slash = opaque_slash

    def take(self, target: Target) -> bool:
        """Whether a server that tells neither case nor marks finds one of them there."""
        return self._take(target.segments, target)

    def take_shortened(self, target: Target) -> bool:
        """As `take`, of a server that drops a program's name or a session from the path, or adds one to a directory's:
        to it `/admin/` is `/admin/index.php`."""
        if self._is_directory(split_slash(target)[0]):
            return True
        if not may_be_shortened(target.path):
            return False
        return any(self._take(way.segments, target) for way in shortened(target.segments))

    def take_decoded(self, target: Target) -> bool:
        """As `take`, of a server that is reached with every escape undone."""
        return self._take(decoded_segments(target, opaque_slash=self._opaque_slash), target)

    def take_read(self, target: Target) -> bool:
        """As `take_decoded` and `take_shortened`, of one that decodes slashes whatever the mount says, drops a format's
        ending from the segment that a mount ends with, and may end the path in its middle: nothing but this keeps a
        read from an API that must not be read."""
        if self._is_directory(split_slash(target)[0]):
            return True
        if not may_be_respelled(target.path):
            return False
        cuts = filter(None, (cut_target(target), target_before_blank(target)))
        whole = (decoded_segments(target), *(split_slash(cut)[0] for cut in cuts))
        ways = (*whole, *(way.segments for segments in whole for way in shortened(segments)))
        return any(
            self._take(way, target) or self._take(way, target, without_formats) or self._is_directory(way)
            for way in ways
        )

    def _is_directory(self, segments: _Segments) -> bool:
        """Whether it is the one of which a mount is the index."""
        return bool(self._directories) and lenient_segments(segments) in self._directories

    def _take(self, segments: _Segments, target: Target, ends: Callable[[str], Iterable[str]] = _as_it_is) -> bool:
        """`ends`: what servers make of a segment that a mount ends with.

        What is spelled as a mount of some host is at other hosts what it looks like: at its own it takes that itself.
        """
        reached = (at for at in self._lengths if at <= len(segments))
        beginnings = (
            (*lenient_segments(segments[: at - 1]), lenient_segment(end))
            for at in reached
            for end in ends(segments[at - 1])
        )
        alike = (mount for beginning in beginnings for mount in self._by_folded.get(beginning, ()))
        return any(mount.host is None or target.segments[: len(mount.segments)] != mount.segments for mount in alike)


def may_be_respelled(path: str) -> bool:
    """Whether an escape, an ending, a bracket or a parameter may hide from a look at its segments what a server makes
    of a path."""
    return "%" in path or "." in path or "(" in path or "&" in path
