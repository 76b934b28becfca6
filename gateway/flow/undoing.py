"""A write with what would take it back: its rule's compensation, filled from its request and later from its answer."""

from dataclasses import dataclass, replace

from gateway.core.caller import Caller
from gateway.core.coding import decoded
from gateway.core.compensation import Unavailable
from gateway.core.decision import Refused
from gateway.core.request import HeaderPairs, Request
from gateway.core.write import Write
from gateway.policy.match import Matched
from gateway.policy.ruleset import RuleSet


@dataclass(frozen=True, slots=True)
class NoWayBack:
    """Implements `core.compensation.Rendering`: nothing would take the write back, whatever its answer is."""

    why: str

    def render(self, headers: HeaderPairs, body: bytes | None) -> Unavailable:  # noqa: ARG002  # the port's signature; no answer changes it
        return Unavailable(self.why)


def undoable(write: Write, matched: Matched, judged: Request, caller: Caller) -> Write:
    """The write with its rule's compensation, if it has one, as far as its request fills it."""
    compensation = matched.entry.compensation
    if compensation is None:
        return write
    return replace(write, compensating=compensation.begin(judged, matched.path, caller, matched.body))


def undoable_again(write: Write, rules: RuleSet, request: Request, body: bytes | None) -> Write:
    """The same of a write that was kept for a while: by the rules in force now."""
    if not any(entry.rule is write.rule and entry.compensation is not None for entry in rules.entries):
        return write
    plain = decoded(body or b"", request.headers.all(b"content-encoding"), write.rule.upstream.limits.body)
    judged = request if isinstance(plain, Refused) else replace(request, body=plain)
    caller = Caller(write.principal, write.tenant)
    matched = rules.match(judged, caller)
    if isinstance(matched, Matched) and matched.entry.rule is write.rule:
        return undoable(write, matched, judged, caller)
    return replace(write, compensating=NoWayBack("its rule has changed since it was queued"))
