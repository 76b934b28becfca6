"""The trail of a match: what was asked, which rule took it, and why each other rule of the upstream did not."""

from dataclasses import dataclass

from gateway.core.caller import Caller
from gateway.core.decision import NO_POLICY, PASSED, Refused
from gateway.core.request import Request
from gateway.core.websocket import asks_for_upgrade
from gateway.policy.condition import GraphqlCondition, PresenceCondition, first_unmet
from gateway.policy.doubtful_value import doubt_of_unmet
from gateway.policy.entry import AnyEntry, Closed
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.pattern import READ_METHODS
from gateway.policy.reading.body import BodyWanted, body_of
from gateway.policy.review.answer import Answer, answer, form_fault
from gateway.policy.ruleset import RuleSet

_REFUSED_ITSELF = "would take it, but the request itself is refused: see the detail"
_NO_BODY = "reads the body, which was not given"
_UNLISTED = "would take it, but the request says something that `only` does not list: see the detail"


@dataclass(frozen=True, slots=True)
class Considered:
    """One entry of the upstream. `place` is `file:line`; `why` says why it took the request or did not."""

    entry: str
    place: str
    match: tuple[str, ...]
    taken: bool
    why: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """All plain values: `dataclasses.asdict` makes JSON of it. `mount` is None where no upstream is mounted, `bodies`
    where it is sent any."""

    method: str
    target: str
    mount: str | None
    answer: Answer
    considered: tuple[Considered, ...]
    bodies: tuple[str, ...] | None = None

    def __str__(self) -> str:
        """For a terminal: the decision first, then the rules, the one that took the request marked with `>`."""
        told = self.answer
        lines = [f"{self.method} {self.target}: {told.decision}"]
        for label, value in (
            ("upstream", told.upstream and f"{told.upstream} (mounted at {self.mount})"),
            ("bodies", None if self.bodies is None else ", ".join(self.bodies) or "none"),
            ("rule", told.rule),
            ("mode", told.mode),
            ("would", told.would),
            ("authority", told.authority),
            ("claims", told.claims),
            ("resource", told.resource),
            ("intent key", told.intent_key),
            ("detail", told.detail),
            ("see", told.see),
        ):
            if value:
                lines.append(f"  {label:<11}{value}")
        for one in self.considered:
            mark = ">" if one.taken else " "
            lines.append(f"{mark} {one.entry} ({one.place}) {' | '.join(one.match)}: {one.why}")
        return "\n".join(lines)


def explain(ruleset: RuleSet, request: Request, caller: Caller) -> Explanation:
    """Ask the rule set as the data path does, and each entry of the upstream why."""
    told = answer(ruleset, request, caller)
    upstream = ruleset.upstream_of(request)
    if isinstance(upstream, Refused):
        return Explanation(request.method, request.target.raw, None, told, ())
    mount = (upstream.mount.site or "") + "/" + "/".join(upstream.mount.segments)
    sent = upstream.mount.bodies
    bodies = None if sent is None else tuple(sorted(one.decode() for one in sent))
    taker = _taker(ruleset, request, caller)
    is_read = request.method in READ_METHODS and not asks_for_upgrade(request.headers)
    if form_fault(request) is not None or (told.decision == PASSED.name and taker is None and not is_read):
        return Explanation(request.method, request.target.raw, mount, told, (), bodies)
    # No rule is asked about a read, and of what is closed only that which names one.
    open_ones: tuple[AnyEntry, ...] = () if is_read else (*ruleset.entries, *ruleset.read_only)
    closed = (one for one in ruleset.closed if not is_read or one.closes_reads)
    own = [one for one in (*open_ones, *closed) if one.matcher.upstream is upstream]
    considered = tuple(_considered(entry, request, taker) for entry in own)
    return Explanation(request.method, request.target.raw, mount, told, considered, bodies)


def _taker(ruleset: RuleSet, request: Request, caller: Caller) -> AnyEntry | None:
    """What takes the request, or closes it."""
    match ruleset.match(request, caller):
        case Matched(entry) | Read(_, _, entry) | NeedsBody(_, Matched(entry)):
            return entry
        case Refused(why=why):
            return next((one for one in ruleset.closed if one.matcher.place.of(one.label) == why), None)
    return None


def _considered(entry: AnyEntry, request: Request, taker: AnyEntry | None) -> Considered:
    anywhere = isinstance(entry, Closed) and entry.anywhere
    texts = ("(any path)",) if anywhere else tuple(pattern.text for pattern in entry.matcher.patterns)
    return Considered(entry.label, str(entry.matcher.place), texts, entry is taker, _why(entry, request, taker))


def _why(entry: AnyEntry, request: Request, taker: AnyEntry | None) -> str:
    if entry is taker:
        return "closes this request" if isinstance(entry, Closed) else "takes this request"
    unfit = _unfit(entry, request)
    if unfit is not None:
        return unfit
    if taker:
        return f"would take it, but {taker.label} is more specific"
    only = None if isinstance(entry, Closed) else entry.only
    match None if only is None else only.fault(request, body_of(request, entry.matcher.upstream)):
        case BodyWanted():
            return _NO_BODY
        case Refused(decision) if decision is NO_POLICY:
            return _UNLISTED
    return _REFUSED_ITSELF


def _unfit(entry: AnyEntry, request: Request) -> str | None:
    """Why it would not take the request; None if it would."""
    paths = [pattern for pattern in entry.matcher.patterns if pattern.takes(request.target)]
    if not paths:
        return "has another path"
    if not any(request.method in pattern.methods for pattern in paths):
        return f"does not take {request.method} here"
    body = body_of(request, entry.matcher.upstream)
    unmet = first_unmet(entry.matcher.conditions, request, body)
    match unmet:
        case None:
            return None
        case BodyWanted():
            return _NO_BODY
        case Refused(_, detail):
            return detail
        case GraphqlCondition():
            return f"wants {unmet.wanted}, and this is {body.operation()}"
        case PresenceCondition(of):
            return f"wants {of}, which is not there"
    doubt = doubt_of_unmet(unmet, request, body)
    return f"wants another value of {unmet}" if doubt is None else doubt.detail
