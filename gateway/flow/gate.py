"""Where each request goes: a read, a write under a rule, or a refusal."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from gateway.core.caller import Caller as Principal
from gateway.core.caller import Control, overrides_request, read_control
from gateway.core.claim import ClaimProof
from gateway.core.coding import body_limit, over_stream_limit
from gateway.core.decision import Refused
from gateway.core.faults import PoliciesChanged
from gateway.core.frozen import frozen
from gateway.core.identify import identify, malformed_token, token_in_target
from gateway.core.late import is_late
from gateway.core.observed import is_observable
from gateway.core.request import Request
from gateway.core.rule import Rule, Upstream
from gateway.core.write import ResourceKey, Write
from gateway.flow.barring import Barring
from gateway.flow.inline import Inline
from gateway.flow.legible import Arrived, arrive
from gateway.flow.marks import Marks
from gateway.flow.naming import Naming
from gateway.flow.observe import Observed
from gateway.flow.parking import Parking
from gateway.flow.parsing import PARSED_AT_ONCE, parsed, parsed_aside
from gateway.flow.ports import BodySource, Caller, Claims
from gateway.flow.proving import prove
from gateway.flow.read import Reading
from gateway.flow.room import PATIENCE_S, Room, no_room
from gateway.flow.telling import telling
from gateway.flow.undoing import undoable
from gateway.policy.amount import read_costs
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.only import Only
from gateway.policy.reading.jsonrpc import bare_call
from gateway.policy.ruleset import RuleSet


@frozen
class Ended:
    """What became of a request, for the log and the metrics."""

    told: Marks | Refused
    upstream: str = ""
    rule: str = ""
    resource: str | None = None
    epoch: int | None = None
    holder: str | None = None
    intent: str | None = None
    lease_left: float | None = None
    """At a renewal: the part of the lease's term that was left, from 0 to 1."""
    principal: str | None = None
    """Who called; None where nobody has a name."""


class Gate:
    """Judges each request by the policies in force when it came."""

    def __init__(
        self,
        policies: Callable[[], RuleSet],
        naming: Naming,
        inline: Inline,
        reading: Reading,
        claims: Claims,
        barring: Barring,
        parking: Parking,
    ) -> None:
        self._policies = policies
        self._claims = claims
        self._barring = barring
        self._parking = parking
        self._naming = naming
        self._inline = inline
        self._reading = reading
        # Not that of bodies that are read for their intents: a request waits for one while it has the other.
        self._room = Room(places=inline.places)

    async def handle(self, request: Request, body: BodySource, principal: Principal, caller: Caller) -> Ended:
        """Answer the caller, whatever it sent. Raises CallerGone if there is nobody left to answer."""
        control = _read_control(request)
        if isinstance(control, Refused):
            return _refuse(caller, control)
        who: Principal | Refused = principal
        paid: _Paid = set()
        while not isinstance(who, Refused):
            asked = _Asked(request, body, who, control, caller, paid)
            rules = self._policies()
            judged = await self._judged(rules, asked)
            if isinstance(judged, _Turned) and rules.takes_graphql(request):
                caller.as_graphql()
            # While its body was awaited others may have come into force, under which its caller is nobody.
            if rules is not self._policies() and _is_taken(judged):
                who = self._anew(asked)
                continue
            try:
                return await self._go_on(judged, asked)
            except PoliciesChanged:
                who = self._anew(asked)
        return _refuse(caller, who)

    def _anew(self, asked: "_Asked") -> Principal | Refused:
        """The caller, by the policies that are in force by now, and the request as it came."""
        asked.body.rewind()
        asked.body.restrict(None)
        return self._policies().principals.identify(asked.request.headers)

    async def _judged(self, rules: RuleSet, asked: "_Asked") -> "_Judged":
        matched = rules.match(asked.request, asked.principal)
        if isinstance(matched, NeedsBody):
            return await self._read_and_judge(rules, matched, asked)
        return await self._judge(rules, matched, asked.request, asked)

    async def _read_and_judge(self, rules: RuleSet, needs: NeedsBody, asked: "_Asked") -> "_Judged":
        upstream = needs.upstream
        # Where a write may be observed, its token is judged only once its rule is known.
        malformed = None if upstream.observes else malformed_token(asked.control)
        arrived = malformed or await arrive(asked.body, upstream.limits.body, asked.caller)
        if isinstance(arrived, Refused):
            return _Turned(arrived, upstream)
        takes = arrived.takes(asked.request, upstream.limits.body)
        if takes == 0:
            return await self._judge_body(rules, needs, arrived, asked)
        async with self._room.taken(takes, PATIENCE_S) as has_room:
            if not has_room:
                return _Turned(no_room(None, "too many large bodies are read at once"), upstream)
            return await self._judge_body(rules, needs, arrived, asked)

    async def _judge_body(self, rules: RuleSet, needs: NeedsBody, arrived: Arrived, asked: "_Asked") -> "_Judged":
        upstream = needs.upstream
        judged = await arrived.read(asked.request, upstream.limits.body)
        if isinstance(judged, Refused):
            return _Turned(judged, upstream)
        if upstream.protocol == "mcp":
            await _as_call(asked.caller, judged.body or b"")
        matched = await _match_body(rules, judged, asked.principal, needs.at_once)
        assert not isinstance(matched, NeedsBody)
        return await self._judge(rules, matched, judged, asked)

    async def _judge(
        self, rules: RuleSet, matched: Matched | Read | Refused, judged: Request, asked: "_Asked"
    ) -> "_Judged":
        """`judged` is the request as the rules read it: with its body where one of them had to."""
        if isinstance(matched, Refused):
            upstream = rules.upstream_of(judged)
            return _Turned(matched, None if isinstance(upstream, Refused) else upstream)
        return matched if isinstance(matched, Read) else await self._judge_write(rules, matched, judged, asked)

    async def _go_on(self, judged: "_Judged", asked: "_Asked") -> Ended:
        """Nothing of a body that the rules have read is in memory any more."""
        caller = asked.caller
        if isinstance(judged, _Turned):
            return _refuse(caller, judged.refused, judged.upstream)
        only = judged.only
        # It was judged as it came.
        asked = asked if only is None else replace(asked, request=only.sent(asked.request))
        if isinstance(judged, Read):
            told = await self._reading.run(judged.upstream, judged.counted, asked.request, asked.body, caller)
            return Ended(told, judged.upstream.name)
        rule, write = judged.rule, judged.write
        if isinstance(write, Refused):
            return await self._turned_away(rule, write, judged.resource, asked)
        run = self._inline.run if rule.parks is None else self._parking.run
        told = await run(write, asked.request, asked.body, caller)
        intent_id = told.facts.intent if isinstance(told, Refused) else told.intent
        return Ended(told, rule.upstream.name, rule.name, write.resource, write.epoch, write.holder, intent_id)

    async def _judge_write(self, rules: RuleSet, matched: Matched, judged: Request, asked: "_Asked") -> "_Write":
        rule, only, caller = matched.entry.rule, matched.entry.only, asked.caller
        if rule.errors == "jsonrpc":
            await _as_call(caller, judged.body or b"")
        elif matched.entry.matcher.reads_graphql:
            caller.as_graphql()
        # The match may have looked at its type only: it is parsed by whoever reads it first.
        size = len(judged.body or b"")
        resource = await parsed(size, partial(rules.resolve, matched, judged, asked.principal))
        if isinstance(resource, Refused):
            if matched.unlisted is not None and is_observable(resource.decision):
                return _Write(rule, None, matched.unlisted, None)
            return _Write(rule, None, resource, only)
        barred = self._barring.bars(rule, resource, asked.principal, asked.control.holder)
        if barred is not None:
            return _Write(rule, resource, barred, only)
        if matched.unlisted is not None:
            # It goes on as it came, with all its headers.
            return _Write(rule, resource, matched.unlisted, None)
        claim = None if rule.signed is None else await prove(self._claims, rule, resource, asked.control)
        write = _identified(rule, resource, asked, claim)
        if isinstance(write, Write) and rule.intent.mode != "off":
            intent = await parsed(size, partial(rules.intent_of, matched, judged, asked.principal, resource))
            if isinstance(intent, Refused):
                write = intent
            elif intent is not None:
                reading = matched.entry.fingerprint.begin(judged.headers, rule.upstream.limits.body, matched.body.json)
                named = await self._naming.named(write, intent, reading, asked.body, caller)
                write = named if isinstance(named, Write) else await self._late(write.named(intent), named, asked)
        if isinstance(write, Write) and rule.budgets:
            write = await _costed(write, matched)
        if isinstance(write, Write) and matched.entry.compensation is not None and write.intent is not None:
            write = await parsed(size, partial(undoable, write, matched, judged, asked.principal))
        if isinstance(write, Write):
            of_calls = size if rule.upstream.protocol == "mcp" else 0
            write = await parsed(of_calls, partial(_telling, rules, write, matched, judged))
        if isinstance(write, Write):
            write = await self._spends(rule, resource, asked) or write
        return _Write(rule, resource, write, only)

    async def _spends(self, rule: Rule, resource: ResourceKey | None, asked: "_Asked") -> Refused | None:
        """Once a request, however often it is judged: its caller does not pay for changed policies."""
        paying = asked.principal.principal, resource
        if asked.principal.rights.quota is None or paying in asked.paid:
            return None
        exceeded = await self._barring.spends(rule, resource, asked.principal)
        if exceeded is None:
            asked.paid.add(paying)
        return exceeded

    async def _late(self, write: Write, refused: Refused, asked: "_Asked") -> Refused:
        """A write that was refused before its body was read is kept, where its rule keeps what comes too late."""
        if write.rule.on_stale == "reject":
            return refused
        if is_late(refused, write.epoch) and (exceeded := await self._spends(write.rule, write.resource, asked)):
            return exceeded
        return await self._inline.quarantine.kept(write, refused, asked.request, asked.body, asked.caller)

    async def _turned_away(self, rule: Rule, refused: Refused, resource: ResourceKey | None, asked: "_Asked") -> Ended:
        """A write that does not come before the fence: it is refused, or passed on where the rule only observes."""
        final = await self._final(rule, refused, resource, asked)
        if final is None:
            exceeded = await self._spends(rule, resource, asked)
            final = exceeded if exceeded is not None and not is_observable(exceeded.decision) else None
        if final is None:
            final = await self._barring.paused_by_now(rule, resource, asked.principal, asked.control.holder)
        told: Marks | Refused
        if final is not None:
            told = final
            asked.caller.refuse(told)
        else:
            asked.body.restrict(body_limit(rule))
            observed = Observed(rule, refused.decision, why=refused.why)
            told = await self._inline.observing.run(observed, asked.request, asked.body, asked.caller)
        return Ended(told, rule.upstream.name, rule.name, resource)

    async def _final(
        self, rule: Rule, refused: Refused, resource: ResourceKey | None, asked: "_Asked"
    ) -> Refused | None:
        """With what such a write is refused in any mode; None where it is passed on because its rule only observes."""
        # Whose right is limited has none where the resource cannot be told.
        unentitled = resource is None and asked.principal.rights.resources is not None
        if rule.mode == "enforce" or unentitled or not is_observable(refused.decision):
            return refused
        if _over(body_limit(rule), asked.body):
            return over_stream_limit(rule)
        paused = self._barring.paused(rule, resource, asked.principal, asked.control.holder)
        if paused is not None or resource is None:
            return paused
        return await self._inline.observing.stopped(rule, resource)


# Who has paid with a write of the minute, and for which resource.
_Paid = set[tuple[str, ResourceKey | None]]


@frozen
class _Asked:
    """One request as it came, whom to answer, and what it has paid so far."""

    request: Request
    body: BodySource
    principal: Principal
    control: Control
    caller: Caller
    paid: _Paid


@dataclass(frozen=True, slots=True)
class _Turned:
    """A request that is refused before a rule of its own is known."""

    refused: Refused
    upstream: Upstream | None = None


@frozen
class _Write:
    """A write of a rule, or with what it is refused. `resource` is None where it cannot be told."""

    rule: Rule
    resource: ResourceKey | None
    write: Write | Refused
    only: Only | None


_Judged = _Turned | Read | _Write


def _is_taken(judged: _Judged) -> bool:
    """Whether its body is untouched, or kept whole: of one that is refused a part may be gone, and nothing is sent."""
    return isinstance(judged, Read) or (isinstance(judged, _Write) and isinstance(judged.write, Write))


def _read_control(request: Request) -> Control | Refused:
    control = read_control(request.headers)
    if isinstance(control, Refused):
        return control
    return overrides_request(request.headers) or token_in_target(control, request.target) or control


def _identified(
    rule: Rule, resource: ResourceKey, asked: _Asked, claim: ClaimProof | Refused | None
) -> Write | Refused:
    """The write, if its proof has the right form and its body may be as long as it is announced."""
    limit = body_limit(rule)
    if _over(limit, asked.body):
        return over_stream_limit(rule)
    asked.body.restrict(limit)
    write = identify(rule, resource, asked.control, claim, asked.principal)
    request = asked.request
    if (request.trace is not None or request.headers.first(b"traceparent")) and isinstance(write, Write):
        return replace(write, trace_id=request.trace_id)
    return write


def _telling(rules: RuleSet, write: Write, matched: Matched, judged: Request) -> Write | Refused:
    return telling(write, matched, judged, at_graphql=rules.takes_graphql(judged))


async def _costed(write: Write, matched: Matched) -> Write | Refused:
    costs = await parsed(len(matched.body.json.body), partial(read_costs, matched.entry.amounts, matched.body))
    return costs if isinstance(costs, Refused) else replace(write, costs=costs)


async def _match_body(
    rules: RuleSet, judged: Request, principal: Principal, at_once: int
) -> Matched | Read | NeedsBody | Refused:
    """A large body is parsed beside the event loop: others must not wait for it."""
    if judged.body is None or len(judged.body) < at_once:
        return rules.match(judged, principal)
    return await parsed_aside(partial(rules.match, judged, principal))


async def _as_call(caller: Caller, body: bytes) -> None:
    """Of a large call only what a refusal needs is kept until its answer."""
    caller.as_call(body if len(body) <= PARSED_AT_ONCE else await parsed_aside(partial(bare_call, body)))


def _over(limit: int | None, body: BodySource) -> bool:
    return limit is not None and body.length is not None and body.length > limit


def _refuse(caller: Caller, refused: Refused, upstream: Upstream | None = None, rule: str = "") -> Ended:
    caller.refuse(refused)
    return Ended(refused, upstream.name if upstream is not None else "", rule)
