"""Where each request goes: a read, a write under a rule, or a refusal."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from gateway.core.caller import Caller as Principal
from gateway.core.caller import read_control
from gateway.core.coding import body_too_large, decoded, over_stream_limit
from gateway.core.decision import Refused
from gateway.core.faults import BodyTooLarge
from gateway.core.identify import identify
from gateway.core.request import Request
from gateway.core.rule import Upstream
from gateway.flow.inline import Inline
from gateway.flow.ports import BodySource, Caller, Marks
from gateway.flow.read import Reading
from gateway.policy.match import NeedsBody, Read
from gateway.policy.ruleset import RuleSet


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a request, for the log and the metrics."""

    told: Marks | Refused
    upstream: str = ""
    rule: str = ""
    resource: str | None = None
    epoch: int | None = None
    holder: str | None = None


class Gate:
    """Judges each request by the policies in force when it came."""

    def __init__(self, policies: Callable[[], RuleSet], inline: Inline, reading: Reading) -> None:
        self._policies = policies
        self._inline = inline
        self._reading = reading

    async def handle(self, request: Request, body: BodySource, principal: Principal, caller: Caller) -> Ended:
        """Answer the caller, whatever it sent. Raises CallerGone if there is nobody left to answer."""
        rules = self._policies()
        control = read_control(request.headers)
        if isinstance(control, Refused):
            return _refuse(caller, control)
        judged = request
        matched = rules.match(judged, principal)
        if isinstance(matched, NeedsBody):
            upstream = matched.upstream
            with_body = await _with_body(upstream, request, body, caller)
            if isinstance(with_body, Refused):
                return _refuse(caller, with_body, upstream)
            judged = with_body
            matched = rules.match(judged, principal)
            assert not isinstance(matched, NeedsBody)
        if isinstance(matched, Refused):
            return _refuse(caller, matched)
        if isinstance(matched, Read):
            told = await self._reading.run(matched.upstream, matched.counted, request, body, caller)
            return Ended(told, matched.upstream.name)
        rule = matched.entry.rule
        resource = rules.resolve(matched, judged, principal)
        if isinstance(resource, Refused):
            return _refuse(caller, resource, rule.upstream, rule.name)
        write = (
            identify(rule, resource, control)
            if not _over(rule.upstream.limits.stream, body)
            else over_stream_limit(rule)
        )
        if isinstance(write, Refused):
            return replace(_refuse(caller, write, rule.upstream, rule.name), resource=resource)
        body.restrict(rule.upstream.limits.stream)
        told = await self._inline.run(write, request, body, caller)
        return Ended(told, rule.upstream.name, rule.name, resource, write.epoch, write.holder)


def _over(limit: int | None, body: BodySource) -> bool:
    return limit is not None and body.length is not None and body.length > limit


async def _with_body(upstream: Upstream, request: Request, body: BodySource, caller: Caller) -> Request | Refused:
    """The request with its body, decoded, for rules to read. What is forwarded are the bytes as they came."""
    limit = upstream.limits.body
    if body.length is not None and body.length > limit:
        return body_too_large(limit)
    caller.proceed()
    try:
        held = await body.hold(limit)
    except BodyTooLarge:
        return body_too_large(limit)
    plain = decoded(held, request.headers.all(b"content-encoding"), limit)
    return plain if isinstance(plain, Refused) else replace(request, body=plain)


def _refuse(caller: Caller, refused: Refused, upstream: Upstream | None = None, rule: str = "") -> Ended:
    caller.refuse(refused)
    return Ended(refused, upstream.name if upstream is not None else "", rule)
