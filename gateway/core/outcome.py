"""What the wire showed of an attempt, and what is concluded from it.

Only two things prove that a write did not happen: its bytes never left, or the owner of the data says so.
"""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Literal, assert_never

from gateway.core.frozen import frozen
from gateway.core.request import HeaderPairs
from gateway.core.rule import Outcomes

# Beyond them no status means anything (RFC 9110, section 15).
_STATUSES = range(200, 600)

# By these whoever passes a request on says that it has no answer of the API itself, which may be at work (RFC 9110,
# sections 15.6.3 and 15.6.5; nginx's 499, Envoy's 503 after a reset, Cloudflare's 520 and above).
BY_INTERMEDIARIES = frozenset((408, 499, 502, 503, 504, *range(520, 600)))

Outcome = Literal["applied", "not_applied", "unknown"]


@dataclass(frozen=True, slots=True)
class NotSent:
    """Not one byte of the request left the gateway.

    `late`: the ticket's deadline had passed before the first byte, or what admitted it lies back too far; it may be
    admitted anew. `caller-broke`: the caller's body broke off first; `too-large`: it was over the limit of what is
    passed on; `crowded`: too many wait for a connection already.
    """

    cause: Literal["unreachable", "late", "caller-broke", "too-large", "crowded"]
    detail: str


@dataclass(frozen=True, slots=True)
class NoReply:
    """Bytes left, and no whole answer head came back: the upstream may or may not have acted."""

    cause: Literal["timeout", "closed", "malformed", "caller-broke"]
    detail: str


@frozen
class Replied:
    """An answer's head came; `complete` tells whether its body did too, by its own framing.

    `status`: of HTTP, or the code of a JSON-RPC error, which is below zero.
    """

    status: int
    complete: bool


Evidence = NotSent | NoReply | Replied


@dataclass(frozen=True, slots=True)
class LateAnswer:
    """A whole answer that came after its caller was told that nobody knows. `body` is None where it was too large.

    `own_headers`: as the upstream spells them, where agents are told places otherwise.
    """

    status: int
    headers: HeaderPairs
    body: bytes | None
    own_headers: HeaderPairs | None = None


@dataclass(frozen=True, slots=True)
class Overdue:
    """A request that was sent whole and not answered in time. For now it is `evidence`; its connection is still open.

    `listen` reads on for as long as the upstream's `timeouts.late` allows, and returns the answer if a whole one came,
    with its body if that is at most so many bytes. Whoever holds this has to await it: it ends the connection.
    """

    evidence: NoReply
    listen: Callable[[int], Coroutine[None, None, LateAnswer | None]]


def judge(outcomes: Outcomes, evidence: Evidence) -> Outcome:
    """Conclude from the evidence. An answer that broke off proves nothing, whatever its status."""
    match evidence:
        case NotSent():
            return "not_applied"
        case NoReply():
            return "unknown"
        case Replied(status, complete):
            if not complete or status in outcomes.unknown:
                return "unknown"
            if status in outcomes.not_applied:
                return "not_applied"
            return "applied" if status in _STATUSES else "unknown"
        case _:
            assert_never(evidence)
