"""A connection beyond those that are accepted: it is told to come back, and costs next to nothing."""

import asyncio
from typing import cast

from gateway.core import problem
from gateway.core.places import overloaded

# Its request may still be on its way; whoever has not sent it by then was not in a hurry.
_WITHIN_S = 1.0
# As many are told so at a time. Beyond them a connection is reset, as the system does when its own line is full.
_MOST = 256


def _answer() -> bytes:
    refused = overloaded()
    body = problem.render(refused)
    lines = [
        f"HTTP/1.1 {refused.decision.status} Service Unavailable",
        "Cache-Control: no-store",
        f"Content-Type: {problem.CONTENT_TYPE_WITH_CHARSET.decode('ascii')}",
        f"Content-Length: {len(body)}",
        f"Retry-After: {refused.facts.retry_after_s}",
        f"Fencing-Decision: {refused.decision.name}",
        "Connection: close",
    ]
    return "\r\n".join(lines).encode("ascii") + b"\r\n\r\n" + body


_ANSWER = _answer()


class TurnedAway(asyncio.Protocol):
    """Answers whatever comes first, reads the rest for a moment so that the answer arrives, and ends."""

    _open = 0

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._answered = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # A stream's is never another; uvloop's own are of no class of asyncio's.
        self._transport = cast(asyncio.Transport, transport)
        TurnedAway._open += 1
        if TurnedAway._open > _MOST:
            self._transport.abort()
        else:
            self._timer = asyncio.get_running_loop().call_later(_WITHIN_S, self._transport.abort)

    def data_received(self, data: bytes) -> None:  # noqa: ARG002  # whatever it is, the answer is the same
        transport = self._transport
        if self._answered or transport is None:
            return
        self._answered = True
        transport.write(_ANSWER)
        if transport.can_write_eof():
            # Closed with bytes that nobody has read, it would be reset, and the answer lost on its way.
            transport.write_eof()
        else:
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # asyncio's
        TurnedAway._open -= 1
        if self._timer is not None:
            self._timer.cancel()
