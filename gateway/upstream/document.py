"""A document from a URL that a policy names: one GET, bounded in time and size, no redirect followed."""

import asyncio

from gateway.claims.fault import LONGEST, KeyFault
from gateway.core.faults import BrokenAnswer
from gateway.core.outcome import NoReply, NotSent
from gateway.core.request import Headers, Request
from gateway.core.rule import KeyUrl, Limits, Timeouts, Upstream
from gateway.core.target import Ambiguous, read_target
from gateway.core.whole_body import WholeBody
from gateway.upstream.sender import HttpSender

# Writes wait for it, and their callers' own timeouts begin at ten seconds.
_WITHIN_S = 5.0


class Documents:
    """Fetches JWKS documents, on connections of its own: not of an upstream, whose credentials they would be sent."""

    def __init__(self, sender: HttpSender) -> None:
        self._sender = sender
        self._hosts: dict[KeyUrl, Upstream] = {}

    async def fetch(self, url: KeyUrl) -> bytes | KeyFault:
        """The document, or why there is none."""
        try:
            async with asyncio.timeout(_WITHIN_S):
                return await self._get(url)
        except TimeoutError:
            return KeyFault(f"no whole answer within {_WITHIN_S:g} s")
        except BrokenAnswer as error:
            return KeyFault(str(error))

    async def _get(self, url: KeyUrl) -> bytes | KeyFault:
        target = read_target(url.target)
        assert not isinstance(target, Ambiguous), "the policy would not have been loaded"
        request = Request("GET", target, Headers(((b"Accept", b"application/json"),)))
        answer = await self._sender.read(self._host(url), request, WholeBody())
        if isinstance(answer, NotSent | NoReply):
            return KeyFault(answer.detail)
        try:
            if answer.status != 200:
                return KeyFault(f"it answered {answer.status}; 200 is wanted, and redirects are not followed")
            content, whole = await answer.read_small(LONGEST)
        finally:
            answer.close()
        if not whole or len(content) > LONGEST:
            return KeyFault(f"the answer is longer than {LONGEST} bytes")
        return content

    def _host(self, url: KeyUrl) -> Upstream:
        """Kept, because the sender knows its connections again by the same value."""
        timeouts, limits = Timeouts(total_s=_WITHIN_S), Limits(body=LONGEST, connections=2)
        trusting = f", trusted by {url.tls.ca}" if url.tls.ca else ""
        made = Upstream(f"keys at {url}{trusting}", url.origin, timeouts=timeouts, limits=limits, tls=url.tls)
        return self._hosts.setdefault(url, made)
