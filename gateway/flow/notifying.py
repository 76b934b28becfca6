"""Telling people: what the store's scripts put into the outbox is sent by whichever gateway claims it first.

    due ─ claim ─ post ─ judge ─ report

Whatever breaks off on the way is sent again, under the same id: at least once, and by one gateway at a time.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Literal, Protocol

from gateway.core.faults import StoreUnavailable
from gateway.core.notification import Claimed, Due
from gateway.core.rule import Endpoint, NotifyEvent
from gateway.core.webhook import Again, Answered, Dead, Received, Unanswered, judge
from gateway.flow.tasks import Tasks, count_fault
from gateway.log import Log
from gateway.policy.ruleset import RuleSet

# People who are told two seconds later miss nothing. A look costs this process ten milliseconds.
_EVERY_S = 2.0
# Of an upstream, begun in one turn: when it goes down, every write of it may be one.
_OF_A_TURN = 64
# A slow receiver occupies no more of this process, and nobody else's turn.
_AT_ONCE = 4

# What then is broken off is sent again, by whichever gateway comes next.
_ENDS_WITHIN_S = 1.0

Result = Literal["sent", "failed", "dead"]


class Outbox(Protocol):
    """The store's notifications. Every call raises StoreUnavailable."""

    async def due(self, upstreams: Collection[str]) -> Sequence[Due]:
        """Some of what is due of these upstreams, what waited longest first."""
        ...

    async def claim(self, due: Due) -> Claimed | None:
        """None where another gateway was first, or nothing is to be sent any more."""
        ...

    async def report(self, claimed: Claimed, outcome: Received | Again | Dead) -> None: ...


# Makes one attempt at an endpoint, bounded in time. Raises nothing about the network.
Post = Callable[[Endpoint, Claimed], Awaitable[Answered | Unanswered]]


class Counts(Protocol):
    """Who counts notifications."""

    def notified(self, event: NotifyEvent, result: Result) -> None: ...


class Notifying:
    """Sends what is due of the upstreams that have `notify`, to the endpoints that are in force then."""

    def __init__(self, outbox: Outbox, post: Post, rules: Callable[[], RuleSet], counts: Counts, log: Log) -> None:
        self._outbox = outbox
        self._post = post
        self._rules = rules
        self._counts = counts
        self._log = log
        self._tasks = Tasks()
        self._sending: dict[str, set[str]] = {}
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._stopped: dict[str, RuleSet] = {}

    async def run(self) -> None:
        """Does not end by itself. Nothing is asked of the store while no policy has `notify`."""
        try:
            while True:
                await self._turn()
                await asyncio.sleep(_EVERY_S)
        finally:
            await self._tasks.drain(_ENDS_WITHIN_S)

    async def _turn(self) -> None:
        try:
            await self._begin()
        except StoreUnavailable:
            # Whoever sweeps says so; nothing is lost by waiting.
            pass
        except Exception as error:  # noqa: BLE001  # a gateway must not end because a record cannot be read
            self._log.error("sending notifications failed", kind=type(error).__name__)
            count_fault(error)

    async def _begin(self) -> None:
        """Begin to send some of what is due; what is on its way already is left out."""
        # One whose receiver is slow has its share in hand, and the others' are looked for behind its own.
        asked = {each for each in self._endpoints() if len(self._sending.get(each, ())) < _OF_A_TURN}
        for due in await self._outbox.due(asked) if asked else ():
            sending = self._sending.setdefault(due.upstream, set())
            if due.id not in sending and len(sending) < _OF_A_TURN:
                sending.add(due.id)
                self._tasks.spawn(self._send(due))

    def _endpoints(self) -> dict[str, Endpoint]:
        return {each.name: each.notify for each in self._rules().upstreams if each.notify is not None}

    async def _send(self, due: Due) -> None:
        try:
            async with self._turns.setdefault(due.upstream, asyncio.Semaphore(_AT_ONCE)):
                # Read only now: the policies may have changed while it waited for its turn.
                endpoint = self._endpoints().get(due.upstream)
                claimed = await self._outbox.claim(due) if endpoint is not None else None
                if endpoint is not None and claimed is not None:
                    await self._attempt(endpoint, claimed)
        except StoreUnavailable:
            # It stays due, or is so again when its claim has run out.
            pass
        except Exception as error:  # noqa: BLE001  # one notification's record must not keep the others from being sent
            self._log.error("sending a notification failed", notification=due.id, kind=type(error).__name__)
            count_fault(error)
        finally:
            self._sending[due.upstream].discard(due.id)

    async def _attempt(self, endpoint: Endpoint, claimed: Claimed) -> None:
        told = claimed.notification
        rules = self._rules()
        if self._stopped.get(told.upstream) is rules:
            outcome: Received | Again | Dead = Dead("its endpoint wants no notifications, as it has said")
        else:
            outcome = judge(told.id, claimed.attempt, await self._post(endpoint, claimed))
        if isinstance(outcome, Dead) and outcome.stops:
            self._stopped[told.upstream] = rules
        self._tell(claimed, outcome)
        await self._outbox.report(claimed, outcome)

    def _tell(self, claimed: Claimed, outcome: Received | Again | Dead) -> None:
        told = claimed.notification
        about: dict[str, object] = {"notification": told.id, "type": told.type}
        about |= {"upstream": told.upstream, "intent": told.intent}
        match outcome:
            case Received():
                self._counts.notified(told.event, "sent")
                self._log.info("a notification was sent", attempt=claimed.attempt, **about)
            case Again(after_s, why):
                self._counts.notified(told.event, "failed")
                again = {"attempt": claimed.attempt, "again_in_s": round(after_s)}
                self._log.warning("a notification was not received", why=why, **again, **about)
            case Dead(why):
                self._counts.notified(told.event, "dead")
                self._log.error(
                    "a notification is not sent any more",
                    why=why,
                    what_to_do="correct the endpoint or `notify`, then `fencegate notifications retry`",
                    **about,
                )
