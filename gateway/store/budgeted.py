"""The fence for writes that take something of their rule's budgets; all others pass it as they pass `FenceStore`.

    probe ─ reserve ─ admit ─ settle ─ (give back)

Budgets are asked last, once the fence would admit the write: what is refused, waits or is replayed takes nothing. They
belong to a rule and not to a resource, and so are reached by calls of their own, each of which decides for itself and
may come twice. What is lost between two of them is found out by `reservations.py`.
"""

import contextlib
from collections.abc import Coroutine

from gateway.core.compensation import Kept
from gateway.core.decision import Refused
from gateway.core.faults import PoliciesChanged, StoreUnavailable
from gateway.core.kept_request import KeptRequest
from gateway.core.outcome import Outcome
from gateway.core.parking import Look, nothing_forbids
from gateway.core.record import IntentRecord
from gateway.core.write import AdmitReply, Admitted, Ready, Replayed, Settled, TicketId, Write
from gateway.store.budgets import confirm, give_back, reserve
from gateway.store.fence import FenceStore
from gateway.store.reply import intent_of


class BudgetedStore(FenceStore):
    """As FenceStore. Where a write costs nothing, no step is added to its calls."""

    def admit(
        self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int
    ) -> Coroutine[None, None, AdmitReply]:
        admit = self._admit if write.costs else super().admit
        return admit(write, ticket, ttl_s=ttl_s, queued=queued, behind=behind)

    def park(
        self, write: Write, request: KeptRequest, look: Look = nothing_forbids
    ) -> Coroutine[None, None, IntentRecord | Replayed | Refused]:
        return self._park(write, request, look) if write.costs else super().park(write, request, look)

    def settle(
        self, admitted: Admitted, outcome: Outcome, reason: str, kept: Kept | None, *, unfinished: bool = False
    ) -> Coroutine[None, None, Settled]:
        settle = self._settle if admitted.write.costs else super().settle
        return settle(admitted, outcome, reason, kept, unfinished=unfinished)

    async def abandon(self, write: Write, ticket: TicketId) -> None:
        await super().abandon(write, ticket)
        if write.costs:
            await give_back(self, write.rule, intent_of(write, ticket), ticket)

    async def _admit(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int) -> AdmitReply:
        found = await self.would_admit(write, ticket, queued=queued, behind=behind)
        if not isinstance(found, Ready):
            return found
        refused = await reserve(self, write, ticket, in_doubt=found.in_doubt)
        if refused is not None:
            return refused
        reply = await super().admit(write, ticket, ttl_s=ttl_s, queued=queued, behind=behind)
        if not isinstance(reply, Admitted):
            await self._give_back(write, ticket)
        return reply

    async def _park(self, write: Write, request: KeptRequest, look: Look) -> IntentRecord | Replayed | Refused:
        found = await self.would_park(write)
        if not isinstance(found, Ready):
            return found
        attempt = self.new_ticket(write.resource)
        refused = await reserve(self, write, attempt)
        if refused is not None:
            return refused
        try:
            reply = await super().park(write, request, look)
        except PoliciesChanged:
            await self._give_back(write, attempt)
            raise
        # A record may be that of another call, which came first.
        if not isinstance(reply, IntentRecord):
            await self._give_back(write, attempt)
        return reply

    async def _settle(
        self, admitted: Admitted, outcome: Outcome, reason: str, kept: Kept | None, *, unfinished: bool
    ) -> Settled:
        settled = await super().settle(admitted, outcome, reason, kept, unfinished=unfinished)
        if settled.outcome == "not_applied":
            await self._give_back(admitted.write, admitted.ticket)
        elif settled.outcome == "applied":
            with contextlib.suppress(StoreUnavailable):
                await confirm(self, admitted.write.rule, admitted.intent)
        return settled

    async def _give_back(self, write: Write, attempt: TicketId) -> None:
        # Whatever cannot be given back now is, once what became of it is asked.
        with contextlib.suppress(StoreUnavailable):
            await give_back(self, write.rule, intent_of(write, attempt), attempt)
