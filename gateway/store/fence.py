"""The fence: one method for each script. Nothing is decided here; a method spells a question and reads the answer."""

import contextlib
import itertools
from collections.abc import Callable
from dataclasses import replace

from gateway.core.compensation import Kept, Undoable
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.faults import StoreUnavailable
from gateway.core.kept_request import KeptRequest
from gateway.core.late import LateResult
from gateway.core.lease import Lease, LeaseMark, LeaseSecret
from gateway.core.outcome import Outcome
from gateway.core.parking import Look, nothing_forbids
from gateway.core.record import IntentRecord
from gateway.core.write import (
    AdmitReply,
    Admitted,
    ExtendReply,
    Ready,
    Replayed,
    ResourceKey,
    Settled,
    TicketId,
    Write,
)
from gateway.store import reply
from gateway.store.abandoned import Abandoned
from gateway.store.answer import Answer, number, text
from gateway.store.asking import Asking
from gateway.store.clock import StoreClock
from gateway.store.kept import deflate_answer
from gateway.store.kept_requests import QuarantineBounds, parked, spelled, spelled_undo
from gateway.store.keys import HINTS, KEPT_BYTES, resource_keys, shard_keys, shard_of, shard_of_id
from gateway.store.lasting import Lasting
from gateway.store.lease_secrets import LeaseSecrets
from gateway.store.links.link import ErrorReply
from gateway.store.links.topology import Topology
from gateway.store.loss.origins import learn_one
from gateway.store.refusal import Asked
from gateway.store.reply import FenceRecord
from gateway.store.script import KEEPING_PARTS, Script
from gateway.store.share import give_place_back, take_place, without_place
from gateway.store.told_refusals import tell_refused
from gateway.store.wake import Wake
from gateway.store.words import UNFINISHED, Words, intent_arguments

ADMIT = Script("admit")
SETTLE = Script("settle")
DELIVER = Script("deliver")
EXTEND = Script("extend")
PEEK = Script("peek")
RECALL = Script("recall")
LEAVE = Script("leave")
GRANT = Script("grant")
RENEW = Script("renew")
RELEASE = Script("release")
REGISTER = Script("register")
ADVANCE = Script("advance")
SWEEP = Script("sweep")
LOOK = Script("look")
QUARANTINE = Script("quarantine", KEEPING_PARTS)

_NO_TICKET = TicketId("")  # of a question that makes none
# Of all shards together, where nobody says otherwise: the store's memory is for fencing first.
PARKED_BYTES_AT_MOST = 256 << 20


class FenceStore(Asking):
    """The store's side of `gateway.flow.ports.Store`, for one gateway. Every call raises StoreUnavailable."""

    def __init__(self, link: Topology, wake: Wake, gateway: str, clock: StoreClock) -> None:
        super().__init__(link, wake, gateway, clock)
        self.quarantine_bounds = QuarantineBounds()
        self.parked_bytes = PARKED_BYTES_AT_MOST
        self._words = Words(gateway)
        self._tickets = itertools.count(1)
        self._secrets = LeaseSecrets(link)
        self.abandoned = Abandoned(self._end_unsent)
        self.lasting = clock.longest_s = Lasting(clock.read)

    def lasts_ms(self) -> str:
        """How long a write may be in flight at most: so long others wait for those that the store forgot."""
        return str(round(self.lasting() * 1000))

    def writes_last(self, by_rules: Callable[[], float]) -> None:
        """By the rules in force. Before this is said no write is known to last."""
        self.lasting.by_rules = by_rules

    async def close(self) -> None:
        await self.abandoned.close()
        await super().close()

    def times(self, ttl_s: float) -> str:
        """In words: for how long one may be in flight that is forgotten, where that is longer; and of the clock."""
        longest_s = self.lasting()
        return (f" lasts:{round(longest_s * 1000)}" if longest_s > ttl_s else "") + self._clock.told()

    def new_ticket(self, resource: ResourceKey) -> TicketId:
        return TicketId(f"{shard_of(resource)}{self.gateway}{next(self._tickets):x}")

    async def admit(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int) -> AdmitReply:
        self.lasting.note(ttl_s)
        words = self._words.admit(write, ttl_s, queued=queued, behind=behind) + self.times(ttl_s)
        asked_twice = self.asked_twice(write.resource)
        answer = await self._ask_to_admit(write, ticket, words)
        answer = self._acknowledged.compared(answer, write.resource)
        found = reply.admit_reply(answer, write, ticket)
        if isinstance(found, Admitted):
            self.has_admitted(found, ttl_s)
            return replace(found, asked_twice=True) if asked_twice() else found
        if asked_twice():
            self.abandoned.later(write, ticket)
        if isinstance(found, Refused):
            self._acknowledged.doubt_where(answer, write.resource)
        return found

    async def would_admit(self, write: Write, ticket: TicketId, *, queued: bool, behind: int) -> AdmitReply | Ready:
        """What admission would say now. It moves the records as an admission does, but makes no ticket."""
        words = self._words.admit(write, 0.0, queued=queued, behind=behind) + self.times(0.0)
        answer = await self._ask_to_admit(write, ticket, f"{words} probes")
        return reply.ready(answer) if answer.word == "ready" else reply.admit_reply(answer, write, ticket)

    async def park(
        self, write: Write, request: KeptRequest, look: Look = nothing_forbids
    ) -> IntentRecord | Replayed | Refused:
        """Take a write that its rule sends later (`Rule.parks`), or find what has become of it.

        A repeat of one that is parked finds it, and takes it over if its epoch is newer.
        """
        one, looked_at = await parked(request), self._clock.read()
        if refused := await look():
            return refused
        place = await take_place(self.link, one.bytes, write.principal, self.parked_bytes)
        words = self._words.park(write, one.digest, place.room) + self.times(0.0)
        call = self.new_ticket(write.resource)
        try:
            answer = await self._ask_to_admit(write, call, words, one.packed, looked_at=looked_at)
        except ErrorReply:
            await give_place_back(self.link, place)
            raise
        if answer.word != "parked" or number(answer.rest[0]) == 0:
            await give_place_back(self.link, place)
        if answer.word != "parked":
            told = reply.park_reply(answer, write)
            return without_place(told, place) if answer.word == "no-room" and isinstance(told, Refused) else told
        # Whoever delivers looks into every shard now and then.
        with contextlib.suppress(StoreUnavailable):
            await self.link.call("ZADD", HINTS, answer.now_ms, shard_of(write.resource))
        record = reply.record_of(answer.rest[1:])
        self.has_parked(record, write.rule.intent.retain_s)
        return record

    async def would_park(self, write: Write) -> IntentRecord | Replayed | Refused | Ready:
        """What has become of the write, or that it would be taken."""
        words = f"{self._words.park(write, '', 0)}{self.times(0.0)} probes"
        answer = await self._ask_to_admit(write, _NO_TICKET, words)
        if answer.word == "ready":
            return reply.ready(answer)
        if answer.word == "parked":
            return reply.record_of(answer.rest[1:])
        return reply.park_reply(answer, write)

    async def settle(
        self, admitted: Admitted, outcome: Outcome, reason: str, kept: Kept | None, *, unfinished: bool = False
    ) -> Settled:
        answer = await self.end(admitted, outcome, reason, kept, UNFINISHED * unfinished)
        return reply.settle_reply(answer, admitted.write)

    async def deliver(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int) -> AdmitReply:
        """Admit a write that was queued: as `admit`, but only its epoch counts, and that it is still what was taken."""
        self.lasting.note(ttl_s)
        words = self._words.deliver(write, ttl_s, queued=queued, behind=behind) + self.times(ttl_s)
        about = write.resource, ticket, self.gateway, reply.intent_of(write, ticket), self._expected()
        taken = str(write.epoch), write.keeping
        asked_twice = self.asked_twice(write.resource)
        answer = await self._ask_in_time(
            DELIVER,
            write.resource,
            lambda: (*about, words + self.until() + self._acknowledged.words(write), *taken),
            looks_again=True,
        )
        found = reply.admit_reply(answer, write, ticket)
        if isinstance(found, Admitted):
            self.has_admitted(found, ttl_s)
        elif asked_twice():
            self.abandoned.later(write, ticket)
        return found

    async def extend(self, admitted: Admitted, *, ttl_s: float) -> ExtendReply:
        write, until = admitted.write, self._clock.read() + ttl_s
        self.lasting.note(ttl_s)
        answer = await self._ask(
            EXTEND,
            write.resource,
            *(write.resource, admitted.ticket, self.gateway, str(write.epoch), write.holder or ""),
            *(write.secret_digest or b"", str(round(ttl_s * 1000)), self._expected(), self._clock.older()),
        )
        if answer.word == "extended" and self.recent is not None:
            self.recent.extended(admitted, until, answer.now_ms + round(ttl_s * 1000))
        return reply.extend_reply(answer, write)

    async def peek(self, write: Write) -> Refused | None:
        """What admission would refuse now, whatever the body says; it moves nothing and is not counted."""
        known, resource = self._acknowledged, write.resource
        proof = str(write.epoch), write.holder or "", write.secret_digest or b""
        origin = known.origin(resource) or await self._learn_origin(resource)
        answer = await self._ask_in_era(
            PEEK, resource, lambda: (*proof, *known.expected(write), origin, str(known.era(resource)))
        )
        known.doubt_where(answer, write.resource)
        refused = reply.peek_reply(answer, write)
        if refused is not None and write.rule.mode == "enforce":
            await tell_refused(self, write, refused)
        return refused

    async def quarantine(self, late: LateResult) -> str | None:
        kept, resource = await spelled(late), late.write.resource
        used = await self.link.call("GET", KEPT_BYTES)
        bounds = self.quarantine_bounds.words(number(used or 0))
        about = kept.id, kept.about, kept.request
        answer = await self._ask(QUARANTINE, resource, resource, self.gateway, *about, bounds)
        if answer.word != "kept":
            return None
        # What is kept is counted anew every minute.
        with contextlib.suppress(StoreUnavailable):
            await self.link.call("INCRBY", KEPT_BYTES, number(answer.rest[0]))
        return kept.id

    async def abandon(self, write: Write, ticket: TicketId) -> None:
        await self.abandoned.end(write, ticket)

    async def leave(self, resource: ResourceKey) -> None:
        await self._ask(LEAVE, resource, resource, self.gateway)

    async def look(self, resource: ResourceKey) -> FenceRecord | None:
        """The resource's fence, or None if no epoch of it was ever seen."""
        return reply.look_reply(await self._ask(LOOK, resource, self._expected(), self._clock.older()), resource)

    async def recall(self, id: str) -> IntentRecord | None:
        """What is known of an intent, or of a write without a key that ended unknown; None for an id of nothing."""
        shard = shard_of_id(id)
        if shard is None:
            return None
        answer = await self.run(RECALL, shard_keys(shard), id)
        return reply.record_of(answer.rest) if answer.word == "recalled" else None

    async def revision(self, resource: ResourceKey) -> int:
        record = await self.look(resource)
        return record.revision if record is not None else 0

    async def lookup(self, resource: ResourceKey) -> Lease | None:
        record = await self.look(resource)
        return record.lease if record is not None else None

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
        known, marked = self._acknowledged, () if mark is None else (mark.spelled,)
        repeats = mark is not None and mark.repeats
        asks = " ".join(["takeover"] * takeover + ["watch"] * watch + ["repeats"] * repeats)
        counts = "" if counts_for is None else f" counts:{counts_for}"
        asks += f" lasts:{self.lasts_ms()}{self._clock.told()}{counts}"
        about = resource, self.gateway, holder, secret_digest, str(ttl_ms)
        looked_at = self._clock.read()
        origin = known.origin(resource) or await self._learn_origin(resource)

        def spelled(looked_at: float, also: str = "") -> tuple[str | bytes, ...]:
            largest = known.largest(resource)
            words = asks + also + self.until(looked_at) + " known" * (0 < largest == known.must_have(resource))
            return *about, self._expected(), str(largest), words, origin, str(known.era(resource)), *marked

        asked_twice = self.asked_twice(resource)
        answer = await self._ask_in_time(GRANT, resource, lambda: spelled(looked_at))
        if asked_twice():
            answer = await self._once_over(
                answer, lambda: self._ask_in_time(GRANT, resource, lambda: spelled(self._clock.read(), " looks"))
            )
        lease = reply.lease_reply(answer, Asked("Not granted", resource, None))
        if isinstance(lease, Lease):
            known.note(resource, lease.epoch, answer.era, leased=True)
        else:
            known.doubt_where(answer, resource)
        return lease

    async def renew(self, resource: ResourceKey, epoch: Epoch, secret_digest: bytes) -> Lease | Refused:
        about = str(epoch), secret_digest, self.lasts_ms(), self._expected(), self._clock.older()
        answer = await self.run_in_time(RENEW, resource_keys(resource), *about)
        return reply.lease_reply(answer, Asked("Not renewed", resource, epoch))

    async def release(self, resource: ResourceKey, epoch: Epoch, secret_digest: bytes) -> Lease | Refused:
        answer = await self._ask(RELEASE, resource, resource, str(epoch), secret_digest, self.gateway)
        return reply.lease_reply(answer, Asked("Not released", resource, epoch))

    async def register(self, resource: ResourceKey, epoch: Epoch, holder: str, *, watch: bool) -> int | Refused:
        known, lasts, looked_at = self._acknowledged, self.lasts_ms(), self._clock.read()
        about = resource, self.gateway, str(epoch), holder, self._expected(), "watch" if watch else ""
        origin = known.origin(resource) or await self._learn_origin(resource)

        def spelled() -> tuple[str, ...]:
            known_era = str(known.era(resource))
            return *about, str(known.must_have(resource)), lasts, origin, known_era, str(self.given_up_ms(looked_at))

        answer = await self._ask_in_time(REGISTER, resource, spelled)
        if answer.word == "registered":
            known.note(resource, epoch, answer.era)
        else:
            known.doubt_where(answer, resource)
        return reply.register_reply(answer, Asked("Not registered", resource, epoch))

    async def advance(
        self, resource: ResourceKey, epoch: Epoch | None, request: str, *, by_clock: bool = True
    ) -> Epoch | Refused:
        """Raise the highest epoch to `epoch` or the next one (`by_clock`: not behind the store's clock), and end the
        lease. `request` identifies the call, so that its repeat raises nothing."""
        known, about, ends = self._acknowledged, (resource, "" if epoch is None else str(epoch), request), ""

        def spelled() -> tuple[str, ...]:
            seen = str(known.largest(resource)), str(known.era(resource))
            return *about, *seen, "operator", "by-clock" * by_clock, ends, str(self.given_up_ms())

        while (answer := await self._ask_in_time(ADVANCE, resource, spelled)).word == "seen":
            ends = text(answer.rest[0])
        advanced = reply.advance_reply(answer, Asked("Not advanced", resource, epoch))
        if not isinstance(advanced, Refused):
            known.note(resource, advanced, answer.era)
        return advanced

    async def sweep(self, resource: ResourceKey, ticket: TicketId) -> int:
        """End the overdue tickets of a resource, `ticket` being one; returns how many ended, each as unknown."""
        answer = await self._ask(SWEEP, resource, resource, ticket, self._expected())
        return number(answer.rest[0])

    async def lease_secret(
        self, tenant: str, principal: str, key: str, resource: ResourceKey, holder: str
    ) -> LeaseSecret:
        """256 bits, from a key that only the store has: while the call's lease lives, all gateways find the same secret
        again, and nobody else does. Where there is none, what it is made of is drawn anew, for the script to judge.
        """
        return await self._secrets.secret_of((tenant, principal, key), resource, holder, self.expected_ms())

    async def knows(self, resource: ResourceKey) -> bool:
        """Whether the resource has a fence record."""
        is_seen = self._acknowledged.largest(resource) > 0
        return is_seen or bool(await self.link.call("EXISTS", resource_keys(resource)[0]))

    async def _ask_to_admit(
        self, write: Write, ticket: TicketId, words: str, *request: bytes, looked_at: float | None = None
    ) -> Answer:
        known, resource = self._acknowledged, write.resource
        origin = known.origin(resource) or await self._learn_origin(resource)
        proof = str(write.epoch), write.holder or "", write.secret_digest or b""
        of = self._expected(), write.rule.upstream.name, write.rule.name
        about, says = (resource, ticket, self.gateway, *proof, *of), (*intent_arguments(write, None), origin, *request)
        answer = await self._ask_in_time(
            ADMIT,
            resource,
            lambda: (*about, words + self.until(looked_at) + known.words(write), *says),
            looks_again=looked_at is None and ticket != _NO_TICKET,
        )
        known.heard(answer, write)
        return answer

    async def _learn_origin(self, resource: ResourceKey) -> str:
        """What its shard began with, of which this process has not heard yet; empty where nobody looks for losses."""
        return "" if self.recent is None else await learn_one(self.link, self.recent, shard_of(resource))

    async def end(self, admitted: Admitted, outcome: str, reason: str, kept: Kept | None, also: str = "") -> Answer:
        """The answer of `settle.lua`. `also`: what it has to know besides, in words."""
        write, rule = admitted.write, admitted.write.rule
        if self.recent is not None:
            self.recent.ending(admitted.ticket)
        own, undo = (kept.answer, kept.undo) if isinstance(kept, Undoable) else (kept, None)
        answer = await self._ask(
            SETTLE,
            write.resource,
            *(write.resource, admitted.ticket, str(write.epoch), write.holder or "", rule.upstream.name, rule.name),
            *(outcome, reason, self._words.settle(admitted) + also),
            *intent_arguments(write, admitted.intent),
            b"" if own is None else deflate_answer(own),
            *spelled_undo(undo),
        )
        if outcome != "abandoned":
            self._has_ended(admitted, answer)
        return answer

    async def _end_unsent(self, write: Write, ticket: TicketId, also: str) -> None:
        admitted = Admitted(write, ticket, None, reply.intent_of(write, ticket))
        await self.end(admitted, "abandoned", "nothing was sent", None, also)
