"""Applied intents that an operator takes back: implements `gateway.flow.compensating.Compensations`.

Every call raises StoreUnavailable.
"""

import json
from dataclasses import replace

from gateway.core.compensation import Kept, Unavailable, Undo, held_back, not_applied_now, not_available
from gateway.core.decision import NO_SUCH_INTENT, Facts, Refused
from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId
from gateway.core.outcome import Outcome
from gateway.core.record import IntentRecord
from gateway.core.write import Admitted, Settled, TicketId, Waiting, Write
from gateway.store import reply
from gateway.store.answer import number, text, unknown_word
from gateway.store.fence import FenceStore
from gateway.store.keys import intent_id, resource_keys
from gateway.store.loss.losses import from_before_a_loss, not_before_accepted
from gateway.store.script import Script
from gateway.store.views.compensation_views import undo_of
from gateway.store.words import UNFINISHED, compensation_words

COMPENSATE = Script("compensate")


class Compensations:
    """The compensations of one store."""

    def __init__(self, store: FenceStore) -> None:
        self._store = store

    async def undo(self, id: IntentId) -> Undo | None:
        """What would take the intent back; None where its rule had no compensation, or it never was applied."""
        return await undo_of(self._store, id)

    def new_ticket(self, write: Write) -> TicketId:
        return self._store.new_ticket(write.resource)

    async def admit(
        self, first: IntentRecord, write: Write, ticket: TicketId, *, queued: bool, note: str, by: str
    ) -> Admitted | Waiting | Refused:
        """A ticket for `write`, which takes `first` back, under the highest epoch. Refused: `wrong-state`,
        `no-such-intent`, `outcome-unknown` where unknown writes hold the resource.
        """
        assert write.intent is not None
        about = json.dumps([write.intent.key, write.intent.tenant, write.intent.target], ensure_ascii=False)
        facts = Facts(resource=first.resource, intent=first.id, intent_state=first.state)
        second = intent_id(write.resource, write.intent.digest)
        ttl_s = write.rule.upstream.timeouts.total_s
        self._store.lasting.note(ttl_s)
        words = compensation_words(write, queued=queued) + self._store.times(ttl_s)
        asked_twice = self._store.asked_twice(write.resource)
        answer = await self._store.run_in_time(
            COMPENSATE,
            resource_keys(write.resource),
            *(write.resource, first.id, second, ticket, self._store.gateway, str(self._store.expected_ms())),
            *(words, about, note, by),
        )
        if answer.word != "admitted" and asked_twice():
            self._store.abandoned.later(write, ticket)
        match answer.word:
            case "admitted":
                epoch, attempt = answer.rest
                admitted = Admitted(replace(write, epoch=Epoch(number(epoch))), ticket, None, second, number(attempt))
                self._store.has_admitted(admitted, ttl_s)
                return admitted
            case "wait-busy":
                return Waiting("busy", number(answer.rest[0]) / 1000)
            case "wait-older":
                return Waiting("older", number(answer.rest[0]) / 1000)
            case "resource-held":
                return held_back([IntentId(id) for id in text(answer.rest[0]).split()], facts)
            case "wrong-state":
                record = reply.record_of(answer.rest)
                return not_applied_now(record.state, replace(facts, intent_state=record.state))
            case "not-kept":
                return not_available(Unavailable(text(answer.rest[0]) or "it is no longer kept"), facts)
            case "store-regressed":
                return not_before_accepted(facts)
            case "lost":
                return from_before_a_loss(facts)
            case "unseen":
                return Refused(
                    NO_SUCH_INTENT, "Nothing was done: the intent is no longer kept.", Facts(intent=first.id)
                )
            case _:
                raise unknown_word(answer)

    async def settle_of(
        self,
        first: IntentId,
        admitted: Admitted,
        outcome: Outcome,
        reason: str,
        kept: Kept | None,
        *,
        unfinished: bool = False,
    ) -> Settled:
        """End the ticket of what takes `first` back; the state of `first` follows in the same step."""
        answer = await self._store.end(
            admitted, outcome, reason, kept, f" compensates:{first}{UNFINISHED * unfinished}"
        )
        return reply.settle_reply(answer, admitted.write)

    async def abandon(self, write: Write, ticket: TicketId) -> None:
        """End a ticket whose admission got no answer: nothing was sent under it."""
        await self._store.abandon(write, ticket)

    async def leave(self, write: Write) -> None:
        await self._store.leave(write.resource)

    async def recall(self, id: str) -> IntentRecord | None:
        return await self._store.recall(id)
