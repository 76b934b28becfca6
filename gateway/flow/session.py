"""A session under its ticket: bytes pass both ways for as long as a write of its token would be admitted.

    extend ─ switch ─ pass on ─ cut ─ settle

The ticket lives for a few seconds and is extended again and again, for the first time before the agent is told that the
protocol is switched: a gateway that is killed leaves no session's ticket that lives as long as a write's. When that is
refused (a newer epoch, a pause, the end of the lease, a caller who has lost its right), or the store cannot be asked
for as long as the ticket lives, both ends are broken off first and the ticket is settled then: whoever waits for it
begins after the last byte of this session (G3). Before each piece the ticket's deadline is checked in the same step as
the system call, so that a gateway that slept sends nothing more (G7).
"""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace

from gateway.core.clock import Clock, Deadline
from gateway.core.decision import (
    FORWARDED,
    KEYS_UNAVAILABLE,
    LEASE_EXPIRED,
    POLICIES_UNAVAILABLE,
    STORE_UNAVAILABLE,
    TOKEN_INVALID,
    Refused,
)
from gateway.core.faults import StoreUnavailable
from gateway.core.request import Headers
from gateway.core.session import LIFE_S, FarEnd, Switched
from gateway.core.websocket import GOING_AWAY, POLICY_VIOLATION, TRY_AGAIN_LATER, CloseCode, close_frame
from gateway.core.write import Extended, Lapsed
from gateway.flow.admission import Admission
from gateway.flow.marks import Marks
from gateway.flow.ports import Caller, NearEnd, Observer, Store
from gateway.flow.standing import Standing
from gateway.flow.ticket import Ticket
from gateway.flow.waiting import Interest

# Three tries within a life. A newer epoch or a pause wakes a session at once.
_EXTEND_EVERY_S = 1.5
# A renewal wakes nobody: towards the end of a lease its store is asked in ever shorter turns, down to this one, so that
# a session is not cut although its lease was renewed at the last moment.
_SHORTEST_TURN_S = 0.05
_AGAIN_AFTER_S = 0.2
# One end has said all: the other one has so long for what it has yet to say.
_LINGER_S = 5.0
# What an agent still sends is taken for so long: unread, it would destroy what was written to it last.
_CLOSE_WITHIN_S = 1.0


@dataclass(frozen=True, slots=True)
class Held:
    """A session that begins: its ticket, which ends at the deadline, the upstream's end, and its handshake's fields."""

    ticket: Ticket
    switched: Switched
    deadline: Deadline
    headers: Headers


@dataclass(frozen=True, slots=True)
class Left:
    """One of the ends has closed."""

    why: str

    @property
    def frame(self) -> bytes:
        return b""


@dataclass(frozen=True, slots=True)
class Cut:
    """The gateway ends the session; the agent is told the code and the reason."""

    code: CloseCode
    reason: str

    @property
    def why(self) -> str:
        return f"cut: {self.reason}"

    @property
    def frame(self) -> bytes:
        return close_frame(self.code, self.reason)


# What the agent is no reason of: it may begin anew soon.
_PASSING = (KEYS_UNAVAILABLE, POLICIES_UNAVAILABLE)
_STORE_AWAY = Cut(TRY_AGAIN_LATER, STORE_UNAVAILABLE.name)
_LAPSED = Cut(TRY_AGAIN_LATER, "lapsed")
_STOPPED = Cut(GOING_AWAY, "the gateway stops")
_LEASE_EXPIRED = Cut(POLICY_VIOLATION, LEASE_EXPIRED.name)
_CLAIM_EXPIRED = Cut(POLICY_VIOLATION, TOKEN_INVALID.name)


class Sessions:
    """Holds sessions until they end. `standing`: None where nobody's right can change."""

    def __init__(
        self, admission: Admission, store: Store, clock: Clock, observer: Observer, standing: Standing | None = None
    ) -> None:
        self._admission = admission
        self._store = store
        self._clock = clock
        self._observer = observer
        self._standing = standing

    async def run(self, held: Held, caller: Caller) -> Marks:
        """Tell the agent that the protocol is switched, and pass bytes on until the session ends."""
        ticket, far = held.ticket, held.switched.end
        write = ticket.admitted.write
        marks = Marks(FORWARDED, write.epoch, "applied", intent=ticket.admitted.intent)
        began = self._clock.boot()
        self._observer.session_began(write.rule.upstream)
        lifetime = Lifetime(self._clock, held.deadline, write.expires)
        keeping = asyncio.ensure_future(self._keep(held, lifetime))
        near: NearEnd | None = None
        try:
            await lifetime.is_told.wait()
            near = caller.switch(marks, held.switched)
            if keeping.done():
                ended: Left | Cut = keeping.result()
            else:
                ended = await _first(keeping, _pass_on(near, far, lifetime), _pass_back(near, far))
            far.abort()
            near.close(ended.frame)
            await ticket.settle("applied", self._reason(began, ended))
            await near.closed(_CLOSE_WITHIN_S)
            return replace(marks, session=ended.why)
        except asyncio.CancelledError:
            # The gateway is stopped and can wait no longer. What that asks for is done here, so that the session is
            # logged like any other.
            far.abort()
            (near or caller.switch(marks, held.switched)).close(_STOPPED.frame)
            ticket.settle_later("applied", self._reason(began, _STOPPED))
            return replace(marks, session=_STOPPED.why)
        finally:
            keeping.cancel()
            far.abort()
            ticket.close()
            self._observer.session_ended(write.rule.upstream)

    def _reason(self, began: float, ended: Left | Cut) -> str:
        return f"a session of {self._clock.boot() - began:.1f} s; {ended.why}"

    async def _keep(self, held: Held, lifetime: "Lifetime") -> Cut:
        """Extend the ticket until that is refused, or until its life is over."""
        try:
            with self._admission.interest(held.ticket.admitted.write.resource) as interest:
                return await self._extend_again(held, lifetime, interest)
        finally:
            lifetime.is_told.set()

    async def _extend_again(self, held: Held, lifetime: "Lifetime", interest: Interest) -> Cut:
        while lifetime.holds():
            interest.forget()
            until = self._clock.after(LIFE_S)
            # The store may have done it although its answer never comes, and then the ticket ends no later.
            lifetime.bound(until)
            try:
                async with asyncio.timeout(lifetime.left()):
                    cut = await self._extend(held, lifetime, until)
            except (StoreUnavailable, TimeoutError):
                lifetime.store_is_away = True
                await asyncio.sleep(min(_AGAIN_AFTER_S, max(0.0, lifetime.left())))
                continue
            if cut is not None:
                return cut
            await interest.wait(lifetime.turn())
        return lifetime.over()

    async def _extend(self, held: Held, lifetime: "Lifetime", until: Deadline) -> Cut | None:
        admitted = held.ticket.admitted
        barred = None if self._standing is None else await self._standing.lost(admitted.write, held.headers)
        if barred is None:
            barred = await self._admission.paused(admitted.write)
        if barred is not None:
            code = TRY_AGAIN_LATER if barred.decision in _PASSING else POLICY_VIOLATION
            return Cut(code, barred.decision.name)
        match await self._store.extend(admitted, ttl_s=LIFE_S):
            case Extended(lease_left_s):
                # Counted from before the store was asked, and so never later than the lease's own end.
                lifetime.renew(until, None if lease_left_s is None else until.earlier(LIFE_S - lease_left_s))
                return None
            case Lapsed():
                return _LAPSED
            case Refused(decision):
                return Cut(POLICY_VIOLATION, decision.name)


class Lifetime:
    """Until when bytes may go to the upstream: while the ticket lives, and no longer than its lease or a signed claim.

    The lease's end is known once the store has extended the ticket.
    """

    def __init__(self, clock: Clock, deadline: Deadline, expires: Deadline | None) -> None:
        self._clock = clock
        self._deadline = deadline
        self._expires = expires
        self._lease_ends: Deadline | None = None
        self.is_told = asyncio.Event()
        """Set once the store has extended the ticket, or it is known that it never will."""
        self.store_is_away = False

    def left(self) -> float:
        """Seconds; negative when it is over."""
        left = self._clock.left(self._deadline)
        for ends in (self._expires, self._lease_ends):
            if ends is not None:
                left = min(left, self._clock.left(ends))
        return left

    def holds(self) -> bool:
        return self.left() > 0

    def bound(self, deadline: Deadline) -> None:
        """It ends no later than this."""
        if self._clock.left(deadline) < self._clock.left(self._deadline):
            self._deadline = deadline

    def renew(self, deadline: Deadline, lease_ends: Deadline | None) -> None:
        self._deadline = deadline
        self._lease_ends = lease_ends
        self.is_told.set()
        self.store_is_away = False

    def turn(self) -> float:
        """Seconds until the store is to be asked again."""
        left = self.left()
        return min(_EXTEND_EVERY_S, left, max(left / 2, _SHORTEST_TURN_S))

    def over(self) -> Cut:
        """Why it is over although nobody refused to extend it."""
        if self._has_passed(self._expires):
            return _CLAIM_EXPIRED
        if self._has_passed(self._lease_ends):
            return _LEASE_EXPIRED
        return _STORE_AWAY if self.store_is_away else _LAPSED

    def _has_passed(self, end: Deadline | None) -> bool:
        return end is not None and self._clock.left(end) <= 0


async def _pass_on(near: NearEnd, far: FarEnd, lifetime: Lifetime) -> Left | Cut:
    """To the upstream; what it has yet to say is waited for a little."""
    why = "the agent left"
    while piece := await near.read():
        if not await far.send(piece, lifetime.holds):
            if not lifetime.holds():
                return lifetime.over()
            why = "the upstream's connection broke"
            break
    far.finish()
    await asyncio.sleep(_LINGER_S)
    return Left(why)


async def _pass_back(near: NearEnd, far: FarEnd) -> Left:
    """To the agent. One that is gone may have said more than has been passed on: its end is not the session's yet."""
    takes = True
    while piece := await far.read():
        takes = takes and await near.write(piece)
    return Left("the upstream closed" if takes else "the agent left")


async def _first(keeping: asyncio.Task[Cut], *ways: Coroutine[None, None, Left | Cut]) -> Left | Cut:
    """How the first of them ends; the others are cancelled."""
    running: list[asyncio.Task[Left | Cut]] = [keeping, *(asyncio.ensure_future(way) for way in ways)]
    try:
        done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        return next(one for one in running if one in done).result()
    finally:
        for one in running:
            one.cancel()
