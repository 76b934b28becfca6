"""Reads that a policy closes, and messages of MCP that count as such: at all paths at which some server finds them.

Another read than the one that is meant has no rule to fall to: it would pass. So every spelling that some server takes
for a closed one is refused.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gateway.core.decision import AMBIGUOUS_TARGET, OF_PATHS, READS_DENIED, Refused
from gateway.core.request import Request
from gateway.core.rule import Upstream
from gateway.core.target import Target
from gateway.policy.choice import Choice, Placed, lenient_choice
from gateway.policy.entry import AnyEntry, Closed
from gateway.policy.lenient.bare_program import bare_programs
from gateway.policy.lenient.cut_format import paths_without_format
from gateway.policy.lenient.cut_path import readings_where_cut
from gateway.policy.lenient.decoded_path import decoded_segments
from gateway.policy.lenient.deeper_mounts import may_be_respelled
from gateway.policy.lenient.index_path import directories
from gateway.policy.lenient.program_path import Programs, program_named
from gateway.policy.lenient.segment import lenient_segments
from gateway.policy.lenient.shortened_path import shortened
from gateway.policy.pattern import READ_METHODS, split_slash
from gateway.policy.reading.body import Body, BodyWanted, unread_body

_SPELLED_OTHERWISE = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that tells neither case, marks nor escapes, or drops a part of the path, or "
    "ends it at a blank, `?`, `#` or `&`, this is a read that the policy closes. Do not repeat it.",
    OF_PATHS,
)
_RUNS_PROGRAM = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that runs a program for what stands behind its name (`/cron.php/x`), or for "
    "its directory (`/admin/` for `/admin/index.php`), this is a read that the policy closes. Do not repeat it.",
    OF_PATHS,
)
_RUNS_INDEX = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that runs `index` or `default` for what stands before it (`/docs/index` for "
    "`/docs`) this is a read that the policy closes. Do not repeat it.",
    OF_PATHS,
)


class ClosedReads:
    """Those of one upstream. False where it has none."""

    __slots__ = ("_actions", "_choice", "_closed", "_longest", "_of_programs", "_programs", "_upstream")

    def __init__(self, upstream: Upstream, entries: Iterable[AnyEntry]) -> None:
        placed = [
            Placed(one, pattern) for one in entries if isinstance(one, Closed) for pattern in one.matcher.patterns
        ]
        is_mcp = upstream.protocol == "mcp"
        self._closed = [one for one in placed if is_mcp or not READ_METHODS.isdisjoint(one.pattern.methods)]
        self._choice = lenient_choice((*self._closed, *bare_programs(self._closed)))
        self._actions = lenient_choice(one for one in self._closed if one.names_action)
        of_programs = [one for one in self._closed if program_named(one.pattern) is not None]
        self._of_programs = lenient_choice(of_programs)
        self._programs = Programs(one.pattern for one in of_programs)
        # What a longer path has behind that tells nothing, and each way to read it costs as much as it has.
        self._longest = 2 + max((len(one.pattern.segments) for one in self._closed), default=0)
        self._upstream = upstream

    def __bool__(self) -> bool:
        return bool(self._closed)

    def refusal(self, request: Request, body: Body) -> BodyWanted | Refused | None:
        """`reads-denied` for a read that is closed, and `ambiguous-target` where only some servers find one. A read's
        body is never wanted, that of a message of MCP may be."""
        ways = dict.fromkeys(way[: self._longest] for way in _ways(request.target))
        for segments in dict.fromkeys(map(lenient_segments, ways)):
            found = self._choice.taker(request, segments, slash=False, body=body)
            if isinstance(found, BodyWanted | Refused):
                return found
            if found is not None:
                return self._denied(found.entry) if self._is_exact(request, found) else _SPELLED_OTHERWISE
        run = (segments for way in ways for segments in self._programs.meant_by(way))
        meant = (segments for way in ways for segments in directories(way))
        return _refusal_among(self._of_programs, run, request, body, _RUNS_PROGRAM) or _refusal_among(
            self._actions, meant, request, body, _RUNS_INDEX
        )

    def refusal_where_cut(self, request: Request) -> Refused | None:
        """The refusal of a read that is a closed one to a server to which its path ends in its middle."""
        reads = (replace(request, target=target) for target in readings_where_cut(request.target))
        return _SPELLED_OTHERWISE if any(self.refusal(read, unread_body(read)) for read in reads) else None

    def _is_exact(self, request: Request, found: Placed) -> bool:
        if found.is_anywhere:
            return True
        own = (one.pattern for one in self._closed if one.entry is found.entry)
        return any(request.method in pattern.methods and pattern.takes(request.target) for pattern in own)

    def _denied(self, entry: AnyEntry) -> Refused:
        detail = f"Nothing was forwarded: the policy of upstream {self._upstream.name} closes this read."
        return Refused(READS_DENIED, f"{detail} Do not repeat it.", why=entry.matcher.place.of(entry.label))


def _refusal_among(
    closed: Choice, meant: Iterable[tuple[str, ...]], request: Request, body: Body, why: Refused
) -> BodyWanted | Refused | None:
    """`meant`: the paths of which some server runs one for the request's."""
    for segments in dict.fromkeys(map(lenient_segments, meant)):
        found = closed.taker(request, segments, slash=False, body=body)
        if found is not None:
            return why if isinstance(found, Placed) else found
    return None


def _ways(target: Target) -> Iterator[tuple[str, ...]]:
    """The segments in all ways in which they are read."""
    plain = split_slash(target)[0]
    yield plain
    if not may_be_respelled(target.path):
        return
    for segments in (plain, decoded_segments(target), decoded_segments(target, opaque_slash=True)):
        for way in (segments, *(one.segments for one in shortened(segments))):
            yield way
            yield from paths_without_format(way)
