"""The trail of a match: what was asked, which rule took it, and why each other rule of the upstream did not."""

from dataclasses import dataclass

from gateway.core.caller import Caller
from gateway.core.decision import PASSED, Refused
from gateway.core.request import Request
from gateway.core.websocket import asks_for_upgrade
from gateway.policy.condition import GraphqlCondition, first_unmet
from gateway.policy.doubtful_value import doubt_of_unmet
from gateway.policy.entry import Entry, ReadOnly
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.pattern import READ_METHODS
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.review.answer import Answer, answer, form_fault
from gateway.policy.ruleset import RuleSet

_REFUSED_ITSELF = "would take it, but the request itself is refused: see the detail"


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
    """All plain values: `dataclasses.asdict` makes JSON of it. `mount` is None where no upstream is mounted."""

    method: str
    target: str
    mount: str | None
    answer: Answer
    considered: tuple[Considered, ...]

    def __str__(self) -> str:
        """For a terminal: the decision first, then the rules, the one that took the request marked with `>`."""
        told = self.answer
        lines = [f"{self.method} {self.target}: {told.decision}"]
        for label, value in (
            ("upstream", told.upstream and f"{told.upstream} (mounted at {self.mount})"),
            ("rule", told.rule),
            ("mode", told.mode),
            ("would", told.would),
            ("authority", told.authority),
            ("claims", told.claims),
            ("resource", told.resource),
            ("intent key", told.intent_key),
            ("detail", told.detail),
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
    mount = (upstream.mount.host or "") + "/" + "/".join(upstream.mount.segments)
    taker = _taker(ruleset, request, caller)
    is_read = request.method in READ_METHODS and not asks_for_upgrade(request.headers)
    if is_read or form_fault(request) is not None or (told.decision == PASSED.name and taker is None):
        return Explanation(request.method, request.target.raw, mount, told, ())
    entries: tuple[Entry | ReadOnly, ...] = (*ruleset.entries, *ruleset.read_only)
    considered = tuple(_considered(entry, request, taker) for entry in entries if entry.matcher.upstream is upstream)
    return Explanation(request.method, request.target.raw, mount, told, considered)


def _taker(ruleset: RuleSet, request: Request, caller: Caller) -> Entry | ReadOnly | None:
    match ruleset.match(request, caller):
        case Matched(entry) | Read(_, _, entry) | NeedsBody(_, Matched(entry)):
            return entry
    return None


def _considered(entry: Entry | ReadOnly, request: Request, taker: Entry | ReadOnly | None) -> Considered:
    texts = tuple(pattern.text for pattern in entry.matcher.patterns)
    return Considered(entry.label, str(entry.matcher.place), texts, entry is taker, _why(entry, request, taker))


def _why(entry: Entry | ReadOnly, request: Request, taker: Entry | ReadOnly | None) -> str:
    if entry is taker:
        return "takes this request"
    paths = [pattern for pattern in entry.matcher.patterns if pattern.takes(request.target)]
    if not paths:
        return "has another path"
    if not any(request.method in pattern.methods for pattern in paths):
        return f"does not take {request.method} here"
    body = Body(request, entry.matcher.upstream.json_types, entry.matcher.upstream.mount)
    unmet = first_unmet(entry.matcher.conditions, request, body)
    match unmet:
        case None:
            return f"would take it, but {taker.label} is more specific" if taker else _REFUSED_ITSELF
        case BodyWanted():
            return "reads the body, which was not given"
        case Refused(_, detail):
            return detail
        case GraphqlCondition():
            return f"wants {unmet.wanted}, and this is {body.operation()}"
    doubt = doubt_of_unmet(unmet, request, body)
    return f"wants another value of {unmet}" if doubt is None else doubt.detail
