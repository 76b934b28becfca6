"""What the flow needs from outside, each as small as it can be. The drivers are in `store`, `upstream` and `proxy`."""

from collections.abc import Callable
from typing import Protocol

from gateway.core.claim import ClaimProof
from gateway.core.clock import Deadline
from gateway.core.compensation import Kept
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.intent import KeptAnswer
from gateway.core.late import Extent, LateResult
from gateway.core.lease import Lease, LeaseMark, LeaseSecret
from gateway.core.outcome import NoReply, NotSent, Outcome, Overdue
from gateway.core.pause import PausesInForce
from gateway.core.record import IntentRecord
from gateway.core.request import HeaderPairs, Request
from gateway.core.rule import Rule, Signed, Upstream
from gateway.core.session import Switched
from gateway.core.token import SignedClaim
from gateway.core.write import (
    AdmitReply,
    Admitted,
    ExtendReply,
    Incident,
    ResourceKey,
    Settled,
    TicketId,
    Write,
)
from gateway.flow.marks import Marks


class Admitting(Protocol):
    """As much of a store as admission needs. Each call but `new_ticket` raises StoreUnavailable."""

    def new_ticket(self, resource: ResourceKey) -> TicketId:
        """A fresh ticket id, chosen before the admit call so that a lost answer can still be settled. No I/O."""
        ...

    async def admit(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int) -> AdmitReply:
        """Compare, record and admit, in one step (G1, G3, G4).

        `ttl_s` is the ticket's life; `queued` says that this gateway has been told to wait for this resource before;
        `behind` counts the other writes of this gateway that wait for it.
        """
        ...

    async def abandon(self, write: Write, ticket: TicketId) -> None:
        """End a ticket whose admit call got no answer, as not_applied: nothing was sent under it."""
        ...

    async def leave(self, resource: ResourceKey) -> None:
        """Give up this gateway's place among those that wait for the resource, so that the next one is woken."""
        ...


class Settling(Protocol):
    """As much of a store as a ticket needs. Raises StoreUnavailable."""

    async def settle(
        self, admitted: Admitted, outcome: Outcome, reason: str, kept: Kept | None, *, unfinished: bool
    ) -> Settled:
        """End the ticket (G5). Never fails for a ticket that is already gone. `reason` is for the record.

        `kept` is what repeats of the intent are answered with, and what would take it back; None where there is
        neither. `unfinished`: nobody has said that its server is done with it; where the outcome is unknown, newer
        epochs wait for it until its deadline.
        """
        ...


class Store(Admitting, Settling, Protocol):
    """The fence: each method is one script, and all but `new_ticket` raise StoreUnavailable.

    A call whose answer was lost may be repeated with the same ticket or secret: the script knows its own request.
    """

    async def extend(self, admitted: Admitted, *, ttl_s: float) -> ExtendReply:
        """Let a session's ticket live for `ttl_s` from now, if a write of its token would be admitted now (G1, G3).

        From then on this gateway is woken when the resource's epoch or lease changes.
        """
        ...

    async def peek(self, write: Write) -> Refused | None:
        """What admission would refuse whatever the body says; moves nothing. For a body that is long in coming."""
        ...

    async def quarantine(self, late: LateResult) -> str | None:
        """Keep what came too late, under this id; None where there is no room for it. The same one has one id."""
        ...

    async def revision(self, resource: ResourceKey) -> int:
        """How many writes were applied to the resource, as far as settled."""
        ...

    async def grant(
        self,
        resource: ResourceKey,
        holder: str,
        secret_digest: bytes,
        *,
        ttl_ms: int,
        takeover: bool,
        watch: bool,
        mark: LeaseMark | None = None,
        counts_for: str | None = None,
    ) -> Lease | Refused:
        """Grant a lease under a new epoch (G2), or refuse with `lease-held` or `epochs-exhausted`; of a call with a
        key also with `lease-lost`: what it was granted has ended, and is not granted again.

        Repeated with the same digest while that lease lives, it returns the same lease. `watch`: wake this gateway
        when the lease ends or older writes do. `counts_for`: the principal whose quota it counts for, which whoever
        takes it over is told of.
        """
        ...

    async def renew(self, resource: ResourceKey, epoch: Epoch, secret_digest: bytes) -> Lease | Refused: ...

    async def release(self, resource: ResourceKey, epoch: Epoch, secret_digest: bytes) -> Lease | Refused:
        """End the lease; the token is dead for good. Released a second time it answers as the first time."""
        ...

    async def register(self, resource: ResourceKey, epoch: Epoch, holder: str, *, watch: bool) -> int | Refused:
        """Record an epoch that was granted elsewhere; returns how many older writes are in flight."""
        ...

    async def lookup(self, resource: ResourceKey) -> Lease | None:
        """The live lease, without its secret."""
        ...

    async def recall(self, id: str) -> IntentRecord | None:
        """What is known of an intent, or of a write without a key that ended unknown."""
        ...

    async def lease_secret(
        self, tenant: str, principal: str, key: str, resource: ResourceKey, holder: str
    ) -> LeaseSecret:
        """The secret for a grant with an `Idempotency-Key`: that of the principal's same call while its lease lives,
        else another one each time; told to nobody."""
        ...


class PauseStore(Protocol):
    """The pauses that are wider than a resource."""

    async def in_force(self) -> PausesInForce:
        """All of them, now. Raises StoreUnavailable."""
        ...


class Claims(Protocol):
    """Who verifies signed claims."""

    async def verify(self, claim: SignedClaim, terms: Signed, resource: ResourceKey) -> ClaimProof | Refused:
        """What the claim proves now. Refused: `token-malformed`, `token-invalid`, `keys-unavailable`."""
        ...


class Body(Protocol):
    """A body as it is sent. Raises CallerGone, or BodyTooLarge past a limit."""

    @property
    def length(self) -> int | None:
        """The announced length; None for a chunked body."""
        ...

    async def begin(self) -> None:
        """Wait for the first piece, and leave it to whoever reads it."""
        ...

    async def read(self) -> bytes:
        """The next piece; empty at the end."""
        ...

    def take_buffered(self) -> bytes | None:
        """The whole body if all of it is already here and nothing was read yet; else None. Does not wait."""
        ...

    def rewind(self) -> bool:
        """Read from the beginning again, for another attempt; False if the body is not kept and cannot be."""
        ...


class BodySource(Body, Protocol):
    """The caller's body as it arrives, nothing read ahead."""

    def restrict(self, limit: int | None) -> None:
        """Whoever reads past `limit` bytes is stopped by BodyTooLarge."""
        ...

    async def hold(self, limit: int) -> bytes:
        """Read the whole body and keep it: what is taken or read later starts from its beginning again."""
        ...

    async def spool(self, feed: Callable[[bytes], None], in_memory: int) -> bytes | None:
        """Read the whole body and keep it, on disk where it is larger than `in_memory` bytes; returns it if it is not.

        `feed` is given all of it in order, in pieces, one at a time; large ones in a thread. Raises NoRoom too. From
        then on `length` is known, and the body is taken or read from its beginning.
        """
        ...


class Answer(Protocol):
    """An upstream's answer whose head has come."""

    status: int
    reason: bytes
    headers: HeaderPairs
    """As agents are told them."""
    own_headers: HeaderPairs
    """As the upstream spells them: it knows places by other names."""
    is_stream: bool
    """Whether it is an event stream, whose pieces are worth nothing when they are held back."""

    @property
    def is_early(self) -> bool:
        """Whether not all of its request has left by now: it may be of who passes it on, while the API is at work."""
        ...

    async def read(self, within_s: float | None) -> bytes:
        """The next piece of the body, empty at the end. Raises BrokenAnswer, also if nothing comes `within_s`."""
        ...

    async def read_small(self, limit: int) -> tuple[bytes, bool]:
        """What comes until the end or until more than `limit` bytes are here: the bytes, and whether that is all.

        A negative limit takes what is here without waiting. Raises BrokenAnswer.
        """
        ...

    def close(self) -> None:
        """Give the connection back if the exchange is whole, else close it. Safe to call twice."""
        ...


class Sender(Protocol):
    """Sends, exactly once, and says what happened as a value. Raises nothing about the network."""

    async def send(
        self, admitted: Admitted, request: Request, body: Body, deadline: Deadline
    ) -> Answer | Overdue | NotSent | NoReply:
        """Send an admitted write. The deadline is checked before each piece, the last one included (G7), and bounds
        the answer: past it the exchange is broken off."""
        ...

    async def switch(
        self, admitted: Admitted, request: Request, body: Body, deadline: Deadline
    ) -> Answer | Switched | NotSent | NoReply:
        """Send an admitted handshake. The deadline is checked as in `send`, and bounds any answer but a session."""
        ...

    async def read(self, upstream: Upstream, request: Request, body: BodySource) -> Answer | NotSent | NoReply:
        """Send what changes nothing. `timeouts.total` bounds the wait for the head, not the body."""
        ...

    async def pass_on(self, upstream: Upstream, request: Request, body: BodySource) -> Answer | NotSent | NoReply:
        """Send a write that is only observed and was not admitted: as it came, and in time as a read."""
        ...


class NearEnd(Protocol):
    """The agent's end of a session. Nothing here raises."""

    async def read(self) -> bytes:
        """What comes next; empty once the agent has closed its connection. Not read, it makes the agent slow down."""
        ...

    async def write(self, piece: bytes) -> bool:
        """Pass a piece on, as fast as the agent takes it; False if it is gone."""
        ...

    def close(self, frame: bytes) -> None:
        """End the connection behind what was written, and behind `frame`.

        Where a frame is given and cannot be written without waiting, or between two others, the connection breaks off.
        """
        ...

    async def closed(self, within_s: float) -> None:
        """Take what still comes until the agent has left: bytes that nobody read would destroy its close frame."""
        ...


class Caller(Protocol):
    """The way back to the agent. Nothing here raises: a caller that is gone or too slow is told by the return value."""

    def is_gone(self) -> bool:
        """Whether the caller has closed its connection."""
        ...

    def has_begun(self) -> bool:
        """Whether an answer, or its head, has been written."""
        ...

    def awaits_proceed(self) -> bool:
        """Whether the caller sends its body only once it is told to (`Expect: 100-continue`)."""
        ...

    def proceed(self) -> None:
        """Answer `Expect: 100-continue`, if the caller sent it and waits for it."""
        ...

    def as_call(self, body: bytes) -> None:
        """The request's body, decoded, is to be read as a JSON-RPC call: a refusal is an error with its id."""
        ...

    def as_graphql(self) -> None:
        """It is sent to where operations of GraphQL are: a refusal has `errors`, too."""
        ...

    def refuse(self, refused: Refused) -> None:
        """The gateway's own answer."""
        ...

    def reply(self, marks: Marks, answer: Answer, body: bytes) -> None:
        """The upstream's answer, whole."""
        ...

    def replay(self, marks: Marks, answer: KeptAnswer) -> None:
        """An answer that was given before, marked as such; or one that came later than its caller was asked to wait."""
        ...

    def park(self, marks: Marks, record: IntentRecord, waited_s: int | None) -> None:
        """The write was taken and is sent later. `waited_s`: for how long its caller preferred to wait."""
        ...

    def begin(self, marks: Marks, answer: Answer) -> None:
        """The head of the upstream's answer, whose body follows in pieces."""
        ...

    def switch(self, marks: Marks, switched: Switched) -> NearEnd:
        """The upstream's 101, and what follows is no longer HTTP."""
        ...

    async def write(self, piece: bytes, within_s: float | None) -> bool:
        """One piece of the body; False if the caller is gone or did not take it within `within_s`."""
        ...

    def end(self) -> None:
        """The body is whole."""
        ...

    def break_off(self, refused: Refused) -> None:
        """The body will never be whole. A stream of events is whole with one that tells so; else as `abort`."""
        ...

    def abort(self) -> None:
        """The body will never be whole: the caller must see a broken transfer, not a short one."""
        ...


class Incidents(Protocol):
    """Who counts incidents. Must neither block nor raise."""

    def incident(self, kind: Incident) -> None:
        """Something happened that the gateway exists to prevent, and was found out."""
        ...


class Observer(Incidents, Protocol):
    """Who counts. Called on the hot path; must neither block nor raise."""

    def sent(self, upstream: Upstream) -> None:
        """A write is in flight."""
        ...

    def ended(self, upstream: Upstream, seconds: float) -> None:
        """It no longer is; it took this long from when it could be sent to the end of the answer."""
        ...

    def session_began(self, upstream: Upstream) -> None:
        """A session lasts from now on; its handshake has `ended`."""
        ...

    def session_ended(self, upstream: Upstream) -> None: ...

    def overtaken(self) -> None:
        """A write ended after a newer epoch had come."""
        ...

    def quarantined(self, rule: Rule, extent: Extent) -> None:
        """A late result was refused, and so much of it was kept."""
        ...
