"""A request that was kept is judged anew before it is sent, by the rules in force: as its agent's own repeat would be.

Only the token is not asked for again: it was proved when the write was taken, and is kept nowhere. Nor is the approver:
an approval that was given stands.
"""

from dataclasses import dataclass, replace
from functools import partial

from gateway.core.caller import ANONYMOUS, Caller
from gateway.core.coding import body_limit
from gateway.core.decision import NO_POLICY, NO_UPSTREAM, Refused
from gateway.core.delivery import NO_LONGER_TAKEN
from gateway.core.intent import Intent, digest_of
from gateway.core.kept_request import KeptRequest
from gateway.core.record import IntentRecord
from gateway.core.request import Headers, Request
from gateway.core.rule import Rule
from gateway.core.target import Target, read_target
from gateway.core.write import Write
from gateway.flow.parsing import parsed, parsed_aside, plain_body
from gateway.flow.telling import telling
from gateway.flow.undoing import undoable
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.principals import Principals
from gateway.policy.ruleset import RuleSet


@dataclass(frozen=True, slots=True)
class Rejudged:
    """The rule that took the write takes it still. `write` is as admission knows it, `request` as it is sent."""

    write: Write
    request: Request
    matched: Matched


@dataclass(frozen=True, slots=True)
class NotTaken:
    """The rules in force would not take the write as their rule's any more; `why` is for operators."""

    why: str

    @property
    def reason(self) -> str:
        return f"{NO_LONGER_TAKEN}: {self.why}"


async def judge_again(record: IntentRecord, kept: KeptRequest, rules: RuleSet) -> Rejudged | NotTaken:
    """What the rules in force say of a kept write: the same rule and the same resource, to be sent later; or not."""
    target = read_target(kept.target)
    if not isinstance(target, Target):
        return NotTaken("its target can be read in two ways")
    request = Request(kept.method, target, Headers(kept.headers))
    caller = _caller_of(record, rules.principals)
    if isinstance(caller, NotTaken):
        return caller
    found = await _match(request, kept.body or b"", caller, rules)
    if isinstance(found, NotTaken):
        return found
    matched, judged = found
    rule = matched.entry.rule
    if (rule.upstream.name, rule.name) != (record.upstream, record.rule):
        return NotTaken(f"rule {rule.name} of upstream {rule.upstream.name} takes it, and not {record.rule}")
    size = len(judged.body or b"")
    resource = await parsed(size, partial(rules.resolve, matched, judged, caller))
    if resource != record.resource:
        return NotTaken(f"rule {rule.name} finds another resource in it")
    if caller.forbidden(record.resource) is not None:
        return NotTaken(f"principal {caller.principal} has no right to the resource any more")
    if rule.parks is None:
        return NotTaken(f"rule {rule.name} keeps no write for later")
    if len(kept.body or b"") > (body_limit(rule) or 0):
        return NotTaken("its body is larger than `limits.body`")
    write = replace(_write_of(record, rule), trace_id=request.trace_id)
    write = await parsed(size, partial(undoable, write, matched, judged, caller))
    only = matched.entry.only
    sent = request if only is None else only.sent(request)
    at_graphql = rules.takes_graphql(judged)
    told = await parsed(size, partial(telling, write, matched, judged, at_graphql=at_graphql))
    return _refused(told) if isinstance(told, Refused) else Rejudged(told, sent, matched)


def lacks_approval(record: IntentRecord, rule: Rule) -> bool:
    """Whether the rule wants an approval that was not given."""
    approval = None if record.parking is None else record.parking.approval
    return rule.parks == "awaiting_approval" and (approval is None or approval.verdict != "given")


def _caller_of(record: IntentRecord, principals: Principals) -> Caller | NotTaken:
    """Who sent it last, with the rights of today. Where nobody has a name any more, everybody may do everything."""
    name = record.principal or ANONYMOUS
    if not principals:
        return Caller(name, record.tenant)
    caller = principals.named(name)
    if caller is None:
        return NotTaken(f"principal {name} is not there any more" if record.principal else "it was sent without a key")
    return caller if caller.tenant == record.tenant else NotTaken(f"principal {name} is of another tenant now")


async def _match(request: Request, body: bytes, caller: Caller, rules: RuleSet) -> tuple[Matched, Request] | NotTaken:
    """The rule that takes it, and the request as the rules read it: with its body where one of them has to."""
    judged = request if not body else replace(request, headers=_announcing(body, request.headers))
    found = rules.match(judged, caller)
    if isinstance(found, NeedsBody):
        plain = await plain_body(body, request.headers.all(b"content-encoding"), found.upstream.limits.body)
        if isinstance(plain, Refused):
            return _refused(plain)
        judged = replace(judged, body=plain)
        match = partial(rules.match, judged, caller)
        found = await parsed_aside(match) if len(plain) >= found.at_once else match()
    if isinstance(found, Matched):
        return found, judged
    if isinstance(found, Refused):
        return _refused(found)
    assert isinstance(found, Read), "the body is here"
    return NotTaken("it counts as a read")


def _announcing(body: bytes, headers: Headers) -> Headers:
    """As its client did: how it was framed is not kept."""
    return Headers((*headers.pairs, (b"Content-Length", b"%d" % len(body))))


def _refused(refused: Refused) -> NotTaken:
    if refused.decision in (NO_POLICY, NO_UPSTREAM):
        return NotTaken("no rule takes it")
    return NotTaken(f"it would be refused as {refused.decision.name}")


def _write_of(record: IntentRecord, rule: Rule) -> Write:
    intent = Intent(record.key or "", record.tenant, record.target, digest_of(record.id), record.fingerprint)
    return Write(
        rule,
        record.resource,
        record.epoch,
        record.holder,
        None,
        intent=intent,
        principal=record.principal or ANONYMOUS,
        tenant=record.tenant,
        keeping=record.keeping,
    )
