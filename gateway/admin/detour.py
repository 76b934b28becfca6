"""A call that came through the gateway's proxy side: an agent's, by an upstream whose address leads here."""

from aiohttp import web

from gateway.core.decision import FORBIDDEN, Refused
from gateway.policy.ruleset import RuleSet


def refuse_forwarded(request: web.BaseRequest, rules: RuleSet) -> Refused | None:
    """Refuse what names a gateway of these policies among those that it came by (RFC 9110, section 7.6.3).

    Of what a gateway adds only this says who added it, and only where its policy says `via`. What connects to this very
    gateway does not get here at all.
    """
    own = {upstream.via.decode("ascii").lower() for upstream in rules.upstreams if upstream.via is not None}
    came_by = (hop.split() for value in request.headers.getall("Via", ()) for hop in value.split(","))
    if not own or not any(len(hop) > 1 and hop[1].lower() in own for hop in came_by):
        return None
    return Refused(
        FORBIDDEN,
        "Nothing was done: the call came through the gateway's proxy listener. No policy's `url` may lead here; "
        "operators call this listener itself.",
    )
