"""An admitted write's ticket, settled exactly once, whatever becomes of whoever held it (G5)."""

import asyncio
from collections.abc import Callable
from typing import Protocol

from gateway.core.compensation import Kept
from gateway.core.faults import StoreUnavailable
from gateway.core.outcome import Outcome, Overdue
from gateway.core.trace import Trace
from gateway.core.write import Admitted, Settled
from gateway.flow.keeping import Keeping, Told, most_read, never
from gateway.flow.own_id import OwnId, Respelled
from gateway.flow.ports import Answer, Body, Incidents, Settling
from gateway.flow.tasks import Tasks

# Between two tries to settle while the store is away: its clients are many, and the ticket's deadline is seconds away.
_SETTLE_PAUSE_S = 0.5


class Witness(Incidents, Protocol):
    """Who counts what is learned when a ticket is settled."""

    def overtaken(self) -> None: ...


class Ticket:
    """Held while a write is in flight. Closed without having been settled, it ends as unknown."""

    def __init__(
        self,
        store: Settling,
        tasks: Tasks,
        observer: Witness,
        admitted: Admitted,
        trace: Trace | None = None,
    ) -> None:
        self.admitted = admitted
        self._trace = trace
        self._store = store
        self._tasks = tasks
        self._observer = observer
        self._concluded = False
        self._keeping: Keeping | None = None
        call = admitted.write.call
        # What is only observed arrives as its caller sent it.
        self._own_id = None if call is None or admitted.write.rule.mode == "observe" else OwnId(call)
        self.known_at = 0.0
        """When it was known what became of the write, by a `Clock.boot`; 0 before."""

    def sent(self, body: Body) -> Body:
        """The body as it is sent."""
        return body if self._own_id is None else Respelled(body, self._own_id)

    def hearing(self, answer: Answer) -> Keeping:
        """Who hears the answer."""
        self._keeping = self._keeper(
            answer.status, (answer.headers, answer.own_headers), is_early=lambda: answer.is_early
        )
        return self._keeping

    def _keeper(self, status: int, headers: Told, is_early: Callable[[], bool] = never) -> Keeping:
        return Keeping(self.admitted.write, status, headers, self._own_id, is_early)

    async def settle(self, outcome: Outcome, reason: str, kept: Kept | None = None) -> Settled | None:
        """Settle; None if the settling goes on by itself, because the store is away now."""
        self._concluded = True
        if self._trace is not None:
            self._trace.enter("settle")
        try:
            settled = await self._store.settle(self.admitted, outcome, reason, kept, unfinished=self._is_unfinished)
        except StoreUnavailable:
            self._tasks.spawn(self._settle_later(outcome, reason, kept))
            return None
        except BaseException:
            # Cancelled in the middle of the call: repeated, it recognises itself.
            self._tasks.spawn(self._settle_later(outcome, reason, kept))
            raise
        self._observe(settled)
        return settled

    @property
    def _is_unfinished(self) -> bool:
        """Whether nothing has told that its server is done with it, or a newer holder would be let in beside it."""
        return self._keeping is None or not self._keeping.is_over

    def settle_later(self, outcome: Outcome, reason: str) -> None:
        """Settle without waiting for it: the holder is being stopped."""
        self._concluded = True
        self._tasks.spawn(self._settle_later(outcome, reason, None))

    def hand_on(self) -> "Ticket":
        """The same ticket for another holder; this one has nothing left to settle."""
        self._concluded = True
        return Ticket(self._store, self._tasks, self._observer, self.admitted, self._trace)

    def close(self) -> None:
        """The holder is done; if it was interrupted, nobody knows what became of the write."""
        if not self._concluded:
            self._concluded = True
            why = "the gateway was stopped while the write was in flight"
            self._tasks.spawn(self._settle_later("unknown", why, None))

    async def listen(self, overdue: Overdue) -> None:
        """An answer that comes after all turns the unknown write into what it was, and is kept like any other."""
        late = await overdue.listen(most_read(self.admitted.write))
        if late is None:
            return
        # The store may have been away until now: first unknown, then known, or the second would pass for the first.
        await self._settle_later("unknown", overdue.evidence.detail, None)
        own = late.headers if late.own_headers is None else late.own_headers
        keeping = self._keeping = self._keeper(late.status, (late.headers, own))
        keeping.add(late.body)
        outcome, kept = keeping.concluded()
        await self._settle_later(outcome, f"answered {late.status}, late", kept)

    def _observe(self, settled: Settled) -> None:
        if settled.overtaken:
            self._observer.overtaken()
        if settled.incident is not None:
            self._observer.incident(settled.incident)

    async def _settle_later(self, outcome: Outcome, reason: str, kept: Kept | None) -> None:
        """Until the store is back."""
        while True:
            try:
                settled = await self._store.settle(self.admitted, outcome, reason, kept, unfinished=self._is_unfinished)
                self._observe(settled)
            except StoreUnavailable:
                await asyncio.sleep(_SETTLE_PAUSE_S)
            else:
                return
