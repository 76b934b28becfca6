"""Notifications, sent to the endpoint that a policy names: one POST, bounded in time, no redirect followed."""

import asyncio
import contextlib

from gateway.core.delivery import retry_after_s
from gateway.core.faults import BrokenAnswer
from gateway.core.notification import Claimed
from gateway.core.outcome import NoReply, NotSent
from gateway.core.request import Headers, Request
from gateway.core.rule import Endpoint, Limits, Timeouts, Upstream
from gateway.core.target import Ambiguous, read_target
from gateway.core.webhook import Answered, Unanswered, message
from gateway.core.whole_body import WholeBody
from gateway.upstream.reply import Reply
from gateway.upstream.sender import HttpSender

# Standard Webhooks 1.0.0, "Request timeouts": 15 to 30 s.
_WITHIN_S = 15.0
_CONNECT_S = 5.0
# What the sender says of a time that is over, it says of a write's.
_NEVER_FIRST_S = 2 * _WITHIN_S
# Of the answer only the status counts. A short body is read all the same, so that the connection can be used again.
_READ = 4096
_READ_WITHIN_S = 1.0
_HEAD = 16 << 10


class Webhooks:
    """Posts notifications, on connections of its own: not of an upstream, whose credentials they would be sent.

    `link`: where operators reach the admin listener; None: messages have no link.
    """

    def __init__(self, sender: HttpSender, link: str | None = None) -> None:
        self._sender = sender
        self._link = link
        self._hosts: dict[str, tuple[Endpoint, Upstream]] = {}

    async def post(self, endpoint: Endpoint, claimed: Claimed) -> Answered | Unanswered:
        """What the receiver answered, or why nobody knows whether it has the message."""
        told = claimed.notification
        sent = message(told, endpoint.secrets, claimed.now_ms // 1000, self._link)
        target = read_target(endpoint.target)
        assert not isinstance(target, Ambiguous), "the policy would not have been loaded"
        request = Request("POST", target, Headers(sent.headers))
        try:
            async with asyncio.timeout(_WITHIN_S):
                answer = await self._sender.pass_on(self._host(told.upstream, endpoint), request, WholeBody(sent.body))
        except TimeoutError:
            return Unanswered(f"no answer within {_WITHIN_S:g} s")
        if isinstance(answer, NotSent | NoReply):
            return Unanswered(answer.detail)
        try:
            await _read_a_little(answer)
        finally:
            answer.close()
        # A date would be of the receiver's clock, and is left to the schedule.
        return Answered(answer.status, retry_after_s(Headers(answer.headers).first(b"retry-after")) or 0.0)

    def _host(self, upstream: str, endpoint: Endpoint) -> Upstream:
        """Kept, because the sender knows its connections again by the same value."""
        known = self._hosts.get(upstream)
        if known is None or known[0] != endpoint:
            timeouts = Timeouts(connect_s=_CONNECT_S, total_s=_NEVER_FIRST_S)
            limits = Limits(response_head=_HEAD, connections=8)
            made = Upstream(
                f"notify of {upstream}", endpoint.origin, timeouts=timeouts, limits=limits, tls=endpoint.tls
            )
            known = self._hosts[upstream] = endpoint, made
        return known[1]


async def _read_a_little(answer: Reply) -> None:
    with contextlib.suppress(BrokenAnswer, TimeoutError):
        async with asyncio.timeout(_READ_WITHIN_S):
            await answer.read_small(_READ)
