"""One delivery, from its ticket to its end: as a write whose caller waits, but there is no caller."""

from collections.abc import Callable
from typing import Protocol

from gateway.core.clock import Clock, Deadline
from gateway.core.compensation import Kept
from gateway.core.delivery import Again, Conclusion, GivenUp, Taken, after_refusal, retry_after_s
from gateway.core.outcome import NoReply, NotSent, Outcome, Overdue, Replied, judge
from gateway.core.request import Headers, Request
from gateway.core.whole_body import WholeBody
from gateway.core.write import Admitted, Settled
from gateway.flow.ports import Answer, Body, Observer
from gateway.flow.queue import Queue
from gateway.flow.tasks import Tasks
from gateway.flow.ticket import Ticket
from gateway.flow.whole import read_answer

# What is left to do in the end: settle calls, each bounded by the store's timeout.
_SETTLE_WITHIN_S = 5.0


class Sender(Protocol):
    """Sends, exactly once, and says what happened as a value. Raises nothing about the network."""

    async def send(
        self, admitted: Admitted, request: Request, body: Body, deadline: Deadline
    ) -> Answer | Overdue | NotSent | NoReply: ...


class Sending:
    """Sends what was queued. `spread` gives a number from 0 to 1, another one each time."""

    def __init__(
        self, queue: Queue, sender: Sender, clock: Clock, observer: Observer, spread: Callable[[], float]
    ) -> None:
        self._queue = queue
        self._sender = sender
        self._clock = clock
        self._observer = observer
        self._spread = spread
        self._tasks = Tasks()

    async def run(self, taken: Taken, admitted: Admitted, deadline: Deadline, request: Request) -> Outcome | None:
        """Send under the ticket and settle it; the outcome, None while the store that should hear it is away."""
        attempt = _Attempt(self._queue, taken, self._spread())
        ticket = Ticket(attempt, self._tasks, self._observer, admitted, request.trace)
        upstream, began = admitted.write.rule.upstream, self._clock.boot()
        request.enter("forward")
        try:
            self._observer.sent(upstream)
            body = ticket.sent(WholeBody(taken.request.body or b""))
            answer = await self._sender.send(admitted, request, body, deadline)
            if isinstance(answer, Overdue):
                self._tasks.spawn(ticket.listen(answer))
                answer = answer.evidence
            if isinstance(answer, NotSent | NoReply):
                return _outcome(await ticket.settle(judge(upstream.outcomes, answer), answer.detail))
            try:
                attempt.answered(answer)
                said = await read_answer(answer, ticket.hearing(answer))
                ticket.known_at = self._clock.boot()
                return _outcome(await ticket.settle(*said))
            finally:
                answer.close()
        finally:
            ticket.close()
            self._observer.ended(upstream, (ticket.known_at or self._clock.boot()) - began)

    async def close(self) -> None:
        """Wait for the last settle calls."""
        await self._tasks.drain(_SETTLE_WITHIN_S)


class _Attempt:
    """The store as one delivery's ticket sees it: it knows what follows where nothing was done."""

    def __init__(self, queue: Queue, taken: Taken, spread: float) -> None:
        self._queue = queue
        self._taken = taken
        self._spread = spread
        self._then: Again | GivenUp = self._after(NotSent("unreachable", ""))

    def answered(self, answer: Answer) -> None:
        asked_s = retry_after_s(Headers(answer.headers).first(b"retry-after"))
        self._then = self._after(Replied(answer.status, complete=True), asked_s)

    async def settle(
        self, admitted: Admitted, outcome: Outcome, reason: str, kept: Kept | None, *, unfinished: bool
    ) -> Settled:
        return await self._queue.end(self._taken, admitted, Conclusion(outcome, reason, kept, self._then, unfinished))

    def _after(self, evidence: NotSent | Replied, asked_s: float | None = None) -> Again | GivenUp:
        parking = self._taken.record.parking
        return after_refusal(0 if parking is None else parking.failures, evidence, asked_s, self._spread)


def _outcome(settled: Settled | None) -> Outcome | None:
    return None if settled is None else settled.outcome
