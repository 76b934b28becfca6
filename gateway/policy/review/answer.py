"""One request asked of a rule set, in the words that agents get. What `explain` and the cases of `*.test.yaml` show."""

from dataclasses import dataclass, replace

from gateway.core.caller import Caller, overrides_request, read_control
from gateway.core.decision import AMBIGUOUS_TARGET, BAD_REQUEST, FORWARDED, OBSERVED, OF_PATHS, PASSED, Refused
from gateway.core.field_name import plain_name
from gateway.core.framing import head_fault
from gateway.core.identify import token_in_target
from gateway.core.observed import is_observable
from gateway.core.request import Headers, Request
from gateway.core.target import Ambiguous, read_target
from gateway.policy.amount import read_costs
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.pattern import READ_METHODS
from gateway.policy.ruleset import RuleSet

BODY_NEEDED = "body-needed"

_FRAMING = frozenset((b"content-length", b"transfer-encoding"))


@dataclass(frozen=True, slots=True)
class Answer:
    """`decision` is `forwarded` where a rule takes the write: whether its token holds is not asked here.

    `passed` is a read, `body-needed` a write whose rule cannot be told without its body; else a problem's name.
    `claims` says how those of `authority: signed` are verified. `resource` is what a write belongs to, or whose count
    of writes a read shows; `intent_key` names its intent.
    `mode` is there where the rule only observes. `would`: what such a write would have been refused for; its decision
    is then `observed`. `see`: where the pages tell of a refusal.
    """

    decision: str
    upstream: str | None = None
    rule: str | None = None
    authority: str | None = None
    claims: str | None = None
    resource: str | None = None
    intent_key: str | None = None
    detail: str | None = None
    mode: str | None = None
    would: str | None = None
    see: str | None = None


def build_request(method: str, target: str, headers: Headers, body: bytes | None) -> Request | Refused:
    """A request as the proxy would read it. Refused: `ambiguous-target`."""
    read = read_target(target)
    if isinstance(read, Ambiguous):
        return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {read.why}. Send a plain path.", OF_PATHS)
    return Request(method, read, headers, body)


def typed_as_json(headers: Headers) -> Headers:
    """The headers of a request that somebody made up here, with the type of its body if they left that out."""
    is_typed = any(plain_name(name) == b"content-type" for name in headers.names())
    return headers if is_typed else Headers((*headers.pairs, (b"Content-Type", b"application/json")))


def form_fault(request: Request) -> Refused | None:
    """The refusal of what is refused before any policy is asked: its head, its control headers, an override."""
    headers = request.headers
    if request.body and _FRAMING.isdisjoint(headers.names()):
        # As its client would announce it.
        headers = Headers((*headers.pairs, (b"Content-Length", b"%d" % len(request.body))))
    fault = head_fault(request.method, headers)
    if fault is not None:
        return Refused(BAD_REQUEST, f"Not forwarded: {fault}. Mend the client.")
    control = read_control(headers)
    if isinstance(control, Refused):
        return control
    return overrides_request(headers) or token_in_target(control, request.target)


def answer(ruleset: RuleSet, request: Request, caller: Caller) -> Answer:
    """Ask for the request's form, match and resolve, as for an agent's request."""
    upstream = ruleset.upstream_of(request)
    malformed = form_fault(request)
    if malformed is not None:
        known = None if isinstance(upstream, Refused) else upstream.name
        return _refused(Answer("", known), malformed)
    if isinstance(upstream, Refused):
        return Answer(upstream.decision.name, detail=upstream.detail)
    match ruleset.match(request, caller):
        case Refused() as refused:
            return _refused(Answer("", upstream.name), refused)
        case Read(_, counted, entry):
            by_protocol = entry is None and request.method not in READ_METHODS
            why = "The protocol's own: it writes nothing, and no rule is asked." if by_protocol else None
            return Answer(PASSED.name, upstream.name, resource=counted, detail=why)
        case NeedsBody(_, matched):
            detail = "The body is read to answer this, and none was given."
            told = Answer(BODY_NEEDED, upstream.name, detail=detail)
            return told if matched is None else replace(told, rule=matched.entry.rule.name)
        case Matched() as matched:
            return _answer_of(ruleset, matched, request, caller)


def _answer_of(ruleset: RuleSet, matched: Matched, request: Request, caller: Caller) -> Answer:
    told = _answer_of_listed(ruleset, matched, request, caller)
    if matched.unlisted is None or told.decision not in (FORWARDED.name, OBSERVED.name):
        return told
    return _refused(told, matched.unlisted)


def _answer_of_listed(ruleset: RuleSet, matched: Matched, request: Request, caller: Caller) -> Answer:
    """As if it said nothing beyond what its rule lists."""
    rule = matched.entry.rule
    claims = None if rule.signed is None else str(rule.signed)
    mode = rule.mode if rule.mode == "observe" else None
    known = Answer(FORWARDED.name, rule.upstream.name, rule.name, rule.authority, claims, mode=mode)
    resource = ruleset.resolve(matched, request, caller)
    if isinstance(resource, Refused):
        return _refused(known, resource)
    known = replace(known, resource=resource)
    forbidden = caller.forbidden(resource)
    if forbidden is not None:
        return _refused(known, forbidden)
    intent = ruleset.intent_of(matched, request, caller, resource)
    if isinstance(intent, Refused):
        return _refused(known, intent)
    if intent is not None:
        known = replace(known, intent_key=intent.key)
        fingerprint = _fingerprint(matched, request)
        if isinstance(fingerprint, Refused):
            return _refused(known, fingerprint)
    costs = read_costs(matched.entry.amounts, matched.body)
    return _refused(known, costs) if isinstance(costs, Refused) else known


def _fingerprint(matched: Matched, request: Request) -> bytes | Refused:
    """Only one that points into the body can be refused; others are not asked for here."""
    form = matched.entry.fingerprint
    limit = matched.entry.rule.upstream.limits.body
    return form.begin(request.headers, limit, matched.body.json).digest(request.body) if form.needs_json else b""


def _refused(known: Answer, refused: Refused) -> Answer:
    if known.mode == "observe" and is_observable(refused.decision):
        detail = f"An enforced rule would answer: {refused.detail}"
        return replace(known, decision=OBSERVED.name, would=refused.decision.name, detail=detail, see=refused.facts.see)
    return replace(known, decision=refused.decision.name, detail=refused.detail, see=refused.facts.see)
