"""From a write to the right to forward it: ask the store, wait where it says so, ask again from the start."""

import asyncio
from collections.abc import Callable

from gateway.core.clock import Clock, Deadline
from gateway.core.decision import RESOURCE_BUSY, STORE_UNAVAILABLE, TAKEOVER_PENDING, TOKEN_INVALID, Facts, Refused
from gateway.core.faults import CallerGone, PoliciesChanged, StoreUnavailable
from gateway.core.places import Places, overloaded
from gateway.core.trace import Trace
from gateway.core.write import AdmitReply, Admitted, Replayed, ResourceKey, TicketId, Waiting, Write
from gateway.flow.pauses import Pauses
from gateway.flow.ports import Admitting, Claims
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Interest, Lines, Wakes

# What a refused caller is told to wait: writes usually take less, and a herd that returns at once gains nothing.
RETRY_AFTER_S = 1
# As many of one resource's writes wait at once: at a few milliseconds each they have their turn in time, and without
# a bound one resource would take the places of all others.
_LONGEST_LINE = 256
# A claim that was verified a moment ago is not verified again: that costs more than all else of an admission.
_PROVED_FOR_S = 1.0
# An answer of the store that took longer may be of a time before what has changed since: a withdrawn key, a pause.
_SOON_S = 0.5


class Admission:
    """Admits writes, in order of arrival within this gateway; the store keeps the order between gateways.

    `claims`: None where no write is made by a signed claim, as with those that were taken before.
    """

    def __init__(
        self,
        store: Admitting,
        clock: Clock,
        wakes: Wakes,
        tasks: Tasks,
        pauses: Pauses,
        places: Places | None = None,
        claims: Claims | None = None,
    ) -> None:
        self.places = places or Places()
        self._claims = claims
        self._store = store
        self._clock = clock
        self._wakes = wakes
        self._tasks = tasks
        self._pauses = pauses
        self._lines = Lines()

    async def admit(
        self, write: Write, is_gone: Callable[[], bool], trace: Trace | None = None
    ) -> tuple[Admitted, Deadline] | Replayed | Refused:
        """Admit or refuse, or find the write's intent applied.

        The deadline is the ticket's, anchored before the call that made it.

        Raises CallerGone when the caller has left by the time the store would be asked, and PoliciesChanged when its
        rule is no longer in force by then: nothing is left behind.

        Of a caller that hung up while this gateway was paused, that may be read only afterwards. Its epoch, if that is
        from elsewhere, is recorded then: it was granted before it was named here, so that this takes nothing from
        whoever held an older one, as granting a lease would (G1).
        """
        # Being told to wait moves an epoch that was granted elsewhere, and whoever finds no place must move nothing.
        moves = write.rule.authority != "lease"
        if moves and self._is_crowded(write.resource):
            return self._crowded_out(write)
        heard = self._wakes.heard
        reply, deadline = await self._ask(write, is_gone, queued=False, behind=0)
        if isinstance(reply, Waiting) and write.rule.mode == "enforce":
            if not moves and self._is_crowded(write.resource):
                if not self._lines.length(write.resource):
                    # Being told to wait gave this gateway a place at the store, in which nobody waits.
                    self._tasks.spawn(self._leave(write))
                return self._crowded_out(write)
            if trace is not None:
                trace.enter("wait")
            # Interest from before the question: a wake-up that overtook the answer is not lost.
            with (
                self.places.taken("admission", anyway=True),
                self._wakes.interest(write.resource, heard) as interest,
            ):
                reply, deadline = await self._wait(write, is_gone, reply, interest)
        if isinstance(reply, Admitted):
            return reply, deadline
        return _gave_up(write, reply) if isinstance(reply, Waiting) else reply

    def _is_crowded(self, resource: ResourceKey) -> bool:
        return self._lines.length(resource) >= _LONGEST_LINE or not self.places.has_one("admission")

    def _crowded_out(self, write: Write) -> Refused:
        self.places.turned_away("admission")
        return overloaded(Facts(resource=write.resource, epoch=write.epoch))

    def interest(self, resource: ResourceKey) -> Interest:
        """To be woken when the resource has changed: for who holds one of its tickets."""
        return self._wakes.interest(resource)

    async def barred(self, write: Write) -> Refused | None:
        """What keeps a write from the fence now that needs no ticket. Raises StoreUnavailable and PoliciesChanged."""
        return await self._disproved(write) or await self._pauses.judge(write)

    async def paused(self, write: Write) -> Refused | None:
        """Whether it was paused since its admission: for who goes on under one ticket. Raises StoreUnavailable."""
        return await self._pauses.judge(write)

    async def paused_by_now(self, write: Write) -> Refused | None:
        """The same for what is only observed: a store that is away stops none."""
        await self._pauses.freshen()
        return self._pauses.stops(write.rule, write.resource, write.tenant, write.holder)

    async def _disproved(self, write: Write) -> Refused | None:
        """Why its signed claim admits nothing by now: its body was long in coming, or it had to wait for others, and
        the claim has ended meanwhile, or its key was withdrawn.

        Raises PoliciesChanged when its rule, whose keys those are, is no longer in force by then.
        """
        if write.expires is not None and self._clock.left(write.expires) <= 0:
            return _claim_expired(write)
        claim, terms = write.claim, write.rule.signed
        if claim is None or terms is None or self._claims is None:
            return None
        if self._clock.boot() - claim.at < _PROVED_FOR_S:
            return None
        proved = await self._claims.verify(claim.presented, terms, write.resource)
        if _is_over(write):
            raise PoliciesChanged
        return proved if isinstance(proved, Refused) else None

    async def _wait(
        self, write: Write, is_gone: Callable[[], bool], told: Waiting, interest: Interest
    ) -> tuple[AdmitReply, Deadline]:
        """Ask whenever woken, once it is this write's turn, until an answer comes or the rule's patience ends."""
        fence = write.rule.fence
        ends = {"older": self._clock.after(fence.drain_timeout_s), "busy": self._clock.after(fence.queue_timeout_s)}
        reply: AdmitReply = told
        deadline = ends[told.why]
        line = self._lines.line(write.resource)
        place = line.join()
        try:
            while isinstance(reply, Waiting) and (left := self._clock.left(ends[reply.why])) > 0:
                if place.is_set():
                    await interest.wait(min(reply.recheck_s, left))
                elif not await _turn_comes(place, left):
                    continue
                interest.forget()
                reply, deadline = await self._ask(write, is_gone, queued=True, behind=line.behind_first)
            return reply, deadline
        finally:
            if line.leave(place):
                self._lines.close(write.resource)
                if not isinstance(reply, Admitted):
                    self._tasks.spawn(self._leave(write))

    async def _ask(
        self, write: Write, is_gone: Callable[[], bool], *, queued: bool, behind: int
    ) -> tuple[AdmitReply, Deadline]:
        disproved = await self._disproved(write)
        if is_gone():
            raise CallerGone("the caller left before its write was admitted")
        if _is_over(write):
            raise PoliciesChanged
        ticket = self._store.new_ticket(write.resource)
        ttl_s = write.rule.upstream.timeouts.total_s
        deadline = self._clock.after(ttl_s)
        asked_at = deadline.boot - ttl_s
        if disproved is not None:
            return disproved, deadline
        try:
            if asked_at > self._pauses.open_until and (paused := await self._pauses.judge(write)):
                return paused, deadline
            reply = await self._store.admit(write, ticket, ttl_s=ttl_s, queued=queued, behind=behind)
            if isinstance(reply, Admitted) and reply.asked_twice and _is_told_by_its_ticket(write):
                # Asked once more behind its end, the store would make a ticket that nobody ends. So nothing is sent
                # under this one, and it is ended now and when its life is over.
                await self._abandon(write, ticket)
                return Waiting("busy", 0.0), deadline
            if queued or self._clock.boot() - asked_at > _SOON_S:
                # The connection stood still, or this process did.
                return await self._looked_again(write, reply), deadline
            return reply, deadline
        except StoreUnavailable as away:
            self._tasks.spawn(self._abandon(write, ticket))
            return store_is_away(away), deadline
        except PoliciesChanged:
            # It is judged anew, and is not to find its own ticket.
            await asyncio.shield(self._tasks.spawn(self._abandon(write, ticket)))
            raise
        except BaseException:
            # Cancelled: the call may still reach the store, and nothing will be sent under its ticket.
            self._tasks.spawn(self._abandon(write, ticket))
            raise

    async def _looked_again(self, write: Write, reply: AdmitReply) -> AdmitReply:
        """The answer, unless what has changed meanwhile forbids to act on it. Raises as `barred`."""
        if _is_over(write):
            raise PoliciesChanged
        if isinstance(reply, Admitted) and (barred := await self.barred(write)):
            await self._abandon(write, reply.ticket)
            return barred
        return reply

    async def _abandon(self, write: Write, ticket: TicketId) -> None:
        try:
            await self._store.abandon(write, ticket)
        except StoreUnavailable:
            # The ticket, if there is one, ends by its deadline: as unknown, which is less than what is known here.
            return

    async def _leave(self, write: Write) -> None:
        try:
            await self._store.leave(write.resource)
        except StoreUnavailable:
            # The place is lost by silence a second later.
            return


def _is_over(write: Write) -> bool:
    return write.rule.upstream.term.is_over


def _is_told_by_its_ticket(write: Write) -> bool:
    """Whether nothing else tells the store that this was asked already. What is only observed is asked once."""
    return write.intent is None and write.rule.mode == "enforce"


async def _turn_comes(place: asyncio.Event, within_s: float) -> bool:
    try:
        async with asyncio.timeout(within_s):
            await place.wait()
    except TimeoutError:
        return False
    return True


def store_is_away(away: StoreUnavailable, undone: str = "Not forwarded") -> Refused:
    """`undone`: what did not happen because of that."""
    detail = f"{undone}: the store that fences writes is away. Retry later; reads still pass."
    return Refused(STORE_UNAVAILABLE, detail, Facts(retry_after_s=RETRY_AFTER_S), str(away))


def _claim_expired(write: Write) -> Refused:
    detail = "Not forwarded: the signed claim expired before the write was admitted. Ask the issuer for a new one."
    return Refused(TOKEN_INVALID, detail, Facts(resource=write.resource, epoch=write.epoch))


def _gave_up(write: Write, waiting: Waiting) -> Refused:
    facts = Facts(resource=write.resource, epoch=write.epoch, retry_after_s=RETRY_AFTER_S)
    fence = write.rule.fence
    if waiting.why == "older":
        detail = f"Not forwarded: writes of an older epoch were still in flight after {fence.drain_timeout_s:g} s."
        return Refused(TAKEOVER_PENDING, f"{detail} Retry with the same token.", facts)
    detail = f"Not forwarded: another write of this epoch was still in flight after {fence.queue_timeout_s:g} s."
    return Refused(RESOURCE_BUSY, f"{detail} Retry with the same token.", facts)
