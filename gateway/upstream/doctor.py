"""Can an upstream be written past the gateway? Each is asked once, by a GET, without what only the gateway has.

Nobody is asked to write: an upstream that lets everybody read may want credentials for writes, so that its policy has
to name a path that tells.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace

from gateway.core.check import Check
from gateway.core.outcome import NoReply, NotSent
from gateway.core.request import Headers, Request
from gateway.core.rule import Limits, Upstream
from gateway.core.target import Target
from gateway.core.whole_body import WholeBody
from gateway.upstream.connection_auth import wants_connection_authenticated
from gateway.upstream.reply import Reply
from gateway.upstream.sender import HttpSender

# RFC 9110, sections 15.5.2 and 15.5.4.
_REFUSALS = frozenset((401, 403))
# Whoever waits sits at a terminal.
_WITHIN_S = 10.0

_WANTED = (
    "Let it want a credential that only the gateway has, in `credentials` or `tls: {cert, key}`; or, if the network "
    "lets nobody but the gateway reach it, write `probe: off`."
)
_ASKS = "; it takes NTLM or Negotiate, with which agents cannot prove here who they are"
_OTHER = (
    "Put a credential of another kind into the policy, such as Basic, a token or a client's certificate: these two are "
    "a connection's, and the gateway's connections are used for all agents."
)
_UNCLEAR = "Write a path that wants credentials: `probe: /path`; or `probe: off` if the network keeps all others out."


async def examine_upstreams(upstreams: Iterable[Upstream], sender: HttpSender) -> list[Check]:
    """One finding each, in their order. The upstreams are asked at once."""
    return await asyncio.gather(*(_examine(upstream, sender) for upstream in upstreams))


async def _examine(upstream: Upstream, sender: HttpSender) -> Check:
    name = f"upstream {upstream.name}"
    if upstream.probe is None:
        return Check(name, True, "not asked: its policy says `probe: off`")
    answered = await _ask(upstream, upstream.probe, sender)
    if isinstance(answered, NotSent):
        return Check(name, False, f"unreachable: {answered.detail}", "Start it, or correct `url` and `tls`.")
    if isinstance(answered, NoReply):
        if upstream.tls.cert is not None and answered.cause == "closed":
            return Check(name, True, "breaks off without the gateway's certificate")
        return Check(name, False, f"no answer: {answered.detail}", "Look at the upstream, or write another `probe`.")
    return _judged(upstream, name, answered)


def _judged(upstream: Upstream, name: str, answer: Reply) -> Check:
    status = answer.status
    if status not in _REFUSALS:
        answers = 200 <= status < 300
        saw = f"answers {status} without credentials" + (": it can be written past the gateway" if answers else "")
        return Check(name, False, saw if answers else f"{saw}, which tells nothing", _WANTED if answers else _UNCLEAR)
    asks = _ASKS if wants_connection_authenticated(answer.headers) else ""
    if upstream.credentials or upstream.tls.cert is not None:
        return Check(name, True, f"answers {status} without the gateway's credentials{asks}")
    if asks:
        return Check(name, False, f"answers {status} and wants credentials, of which its policy has none{asks}", _OTHER)
    saw = f"answers {status} and wants credentials, of which its policy has none: agents have them, and can write past"
    return Check(
        name, False, f"{saw} the gateway", "Take the credential away from the agents, and put it in the policy."
    )


async def _ask(upstream: Upstream, target: Target, sender: HttpSender) -> Reply | NotSent | NoReply:
    """The head of an answer whose body nobody reads."""
    timeouts = replace(upstream.timeouts, total_s=min(upstream.timeouts.total_s, _WITHIN_S))
    bare = replace(
        upstream,
        credentials=(),
        tls=replace(upstream.tls, cert=None, key=None),
        timeouts=timeouts,
        limits=Limits(connections=2),
    )
    site = upstream.mount.site
    request = Request("GET", target, Headers(() if site is None else ((b"Host", site.encode("ascii")),)))
    answer = await sender.read(bare, request, WholeBody())
    if isinstance(answer, NotSent | NoReply):
        return answer
    answer.close()
    return answer
