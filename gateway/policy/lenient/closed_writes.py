"""Writes that are closed ones to some server, though a rule takes their paths.

Of what the rules themselves name, nothing is asked here: `POST /docs` beside `POST /{kind}/{id}` is a collection beside
its items far more often than an action beside its arguments. An entry of `closed` names what must not run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from gateway.core.decision import AMBIGUOUS_TARGET, OF_PATHS, Refused
from gateway.core.request import Request
from gateway.core.rule import Upstream
from gateway.core.target import Target
from gateway.policy.choice import Choice, Placed, lenient_choice
from gateway.policy.entry import Closed
from gateway.policy.lenient.bare_program import bare_programs
from gateway.policy.lenient.cut_format import paths_without_format
from gateway.policy.lenient.cut_path import readings_where_cut
from gateway.policy.lenient.decoded_path import decoded_segments
from gateway.policy.lenient.deeper_mounts import may_be_respelled
from gateway.policy.lenient.index_path import names_directory
from gateway.policy.lenient.segment import lenient_segments
from gateway.policy.lenient.shortened_path import Shortened, may_be_shortened, shortened
from gateway.policy.pattern import Pattern, split_slash
from gateway.policy.reading.body import Body, BodyWanted, body_of

CUT_IS_CLOSED = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server to which the path ends at a blank, an escaped `?` or `#` or a `&`, this is a "
    "write that the policy does not allow. Do not repeat it.",
    OF_PATHS,
)
_HAS_ARGUMENTS = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that takes what follows an action for its arguments (`/docs/publish/x` for "
    "`/docs/publish`) this is a write that the policy closes. Do not repeat it; where it is meant, a rule has to name "
    "the closed segment in text.",
    OF_PATHS,
)
_IS_PROGRAM = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that adds the ending to a program's name (`/cron` for `/cron.php`) this is a "
    "write that the policy closes. Do not repeat it; where it is meant, a rule has to name it in text.",
    OF_PATHS,
)
_HAS_FORMAT = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that takes an ending for a format (`/docs/publish.json` or `.data` for "
    "`/docs/publish`) this is a write that the policy closes. Do not repeat it; where it is meant, a rule has to name "
    "it in text.",
    OF_PATHS,
)
_IS_INDEX = Refused(
    AMBIGUOUS_TARGET,
    "Nothing was forwarded: to a server that runs `index` or `default` for what stands before it (`/docs/index` for "
    "`/docs`) this is a write that the policy closes. Do not repeat it; where it is meant, a rule has to name it in "
    "text.",
    OF_PATHS,
)


class ClosedWrites:
    """Those of one upstream. False where it has none."""

    __slots__ = ("_actions", "_bare", "_choice", "_closed", "_is_any", "_lengths", "_upstream")

    def __init__(self, upstream: Upstream, placed: Sequence[Placed], choice: Choice) -> None:
        """`choice`: among all entries of the upstream."""
        closed = [one for one in placed if isinstance(one.entry, Closed)]
        actions = [one for one in closed if one.names_action]
        self._upstream = upstream
        self._choice = choice
        self._is_any = bool(closed)
        self._closed = lenient_choice(closed)
        self._actions = lenient_choice(actions)
        bare = tuple(bare_programs(closed))
        self._bare = lenient_choice(bare) if bare else None
        self._lengths = sorted({len(one.pattern.segments) for one in actions})

    def __bool__(self) -> bool:
        return self._is_any

    def refusal(self, taker: Pattern, request: Request, body: Body) -> BodyWanted | Refused | None:
        """Of a write that `taker` takes. What the taker itself names in text is meant as it is."""
        lacking = self._behind(taker, request, body)
        if lacking is not None:
            return lacking
        for target in readings_where_cut(request.target):
            asked = replace(request, target=target)
            read = body_of(asked, self._upstream)
            lacking = self._of_cut(asked, read) or self._behind(taker, asked, read)
            if lacking is not None:
                return lacking
        return None

    def _of_cut(self, asked: Request, body: Body) -> BodyWanted | Refused | None:
        """The refusal of what is left of a path, where it is closed and no rule opens it."""
        segments, slash = split_slash(asked.target)
        if self._closed.taker(asked, lenient_segments(segments), slash=False, body=body) is None:
            return None
        found = self._choice.taker(asked, segments, slash, body)
        if isinstance(found, BodyWanted):
            return found
        is_open = isinstance(found, Placed) and not isinstance(found.entry, Closed)
        return None if is_open else CUT_IS_CLOSED

    def _behind(self, taker: Pattern, request: Request, body: Body) -> BodyWanted | Refused | None:
        """The refusal of a path that is closed with an ending, without one, or with what goes on behind it."""
        for choice, segments, why in self._meant(taker, request.target):
            found = choice.taker(request, segments, slash=False, body=body)
            if found is not None:
                return found if isinstance(found, BodyWanted | Refused) else why
        return None

    def _meant(self, taker: Pattern, target: Target) -> Iterator[tuple[Choice, tuple[str, ...], Refused]]:
        """The paths that some server runs for this one, what each could be of all that is closed, and why."""
        if not (taker.names or taker.rest):
            return
        ways = tuple(_ways(taker, target))
        if self._bare is not None and taker.ends_open:
            yield from ((self._bare, lenient_segments(way.segments), _IS_PROGRAM) for way in ways)
        if not self._lengths:
            return
        if taker.ends_open and may_be_respelled(target.path):
            stems = (stem for way in ways for stem in paths_without_format(way.segments) if len(stem) in self._lengths)
            yield from ((self._actions, lenient_segments(stem), _HAS_FORMAT) for stem in stems)
        for way in ways:
            folded = lenient_segments(way.segments[: self._lengths[-1]])
            whys = ((length, _why(taker, way, length)) for length in self._lengths)
            yield from ((self._actions, folded[:length], why) for length, why in whys if why is not None)


def _why(taker: Pattern, way: Shortened, length: int) -> Refused | None:
    """Why what is closed may be meant where a closed path ends behind so many segments; None if it cannot."""
    if length >= len(way.segments):
        return None
    if length and not taker.names_text(way.places[length - 1]):
        return _HAS_ARGUMENTS
    is_index = not taker.names_text(way.places[length]) and names_directory(way.segments, length)
    return _IS_INDEX if is_index else None


def _ways(taker: Pattern, target: Target) -> Iterator[Shortened]:
    """As the segments came, without what servers drop, and with encoded slashes for slashes."""
    plain = split_slash(target)[0]
    yield Shortened(plain, tuple(range(len(plain))))
    if may_be_shortened(target.path):
        yield from shortened(plain, taker.segments)
    if "%" not in target.path:
        return
    decoded = decoded_segments(target)
    if decoded != plain:
        # Where each stood is not told: as if a placeholder took them all.
        yield Shortened(decoded, (len(taker.segments),) * len(decoded))
