"""Unknown intents whose upstream can be asked: each is asked about again and again until the upstream knows (G5).

    due ─ recall ─ take the turn ─ ask ─ conclude ─ resolve

Whatever is no clear answer leaves the intent unknown, and so does a gateway that dies on the way: the store says when
it is to be asked about again.
"""

import asyncio
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, Protocol

from gateway.core.coding import decoded
from gateway.core.decision import Refused
from gateway.core.faults import BrokenAnswer, StoreUnavailable
from gateway.core.intent import IntentId, digest_of
from gateway.core.outcome import NoReply, NotSent
from gateway.core.record import IntentRecord
from gateway.core.request import Headers, Request
from gateway.core.rule import Upstream
from gateway.core.stored import is_stored
from gateway.core.whole_body import WholeBody
from gateway.flow.ports import Answer, Incidents
from gateway.flow.tasks import Tasks, count_fault
from gateway.log import Log
from gateway.policy.query import Query
from gateway.policy.reading.jsonbody import read_json
from gateway.policy.ruleset import RuleSet

# Intents that one turn, a second, begins to ask about. Each costs the store three calls.
_OF_A_TURN = 64
# A slow upstream occupies no more of this process, and of its own connections.
_OF_AN_UPSTREAM = 16
# What a query answers says whether one thing happened; all of it is kept as evidence.
_LARGEST_ANSWER = 64 << 10

Resolution = Literal["applied", "not_applied", "duplicated"]


class Question(Protocol):
    """The turn to ask about an intent."""

    @property
    def record(self) -> IntentRecord: ...

    @property
    def unknown_for_s(self) -> float: ...


class Questions(Protocol):
    """The store's unknown intents. Every call raises StoreUnavailable."""

    async def recall(self, id: IntentId) -> IntentRecord | None:
        """The record; None if there is none."""
        ...

    async def take(self, id: IntentId) -> Question | None:
        """Take the turn to ask about an intent, of all gateways; None if it is resolved, or another one's turn."""
        ...

    async def resolve(
        self, record: IntentRecord, outcome: Resolution, reason: str, evidence: bytes, *, is_own: bool
    ) -> bool:
        """Resolve it, once. `duplicated` pauses its resource. False if it was resolved meanwhile.

        `is_own`: the evidence is about this very intent, so that its agents may see it.
        """
        ...


# Not done yet, another one's word, and a part (RFC 9110, section 15.3): no API's own "no".
_OF_OTHERS = frozenset((202, 203, 206))


class Sender(Protocol):
    """Sends a query, exactly once and with the upstream's own credentials. Raises nothing about the network."""

    async def read(self, upstream: Upstream, request: Request, body: WholeBody) -> Answer | NotSent | NoReply: ...


@dataclass(frozen=True, slots=True)
class Answered:
    """A query's whole answer. `is_stored`: a cache says that it has it from before."""

    status: int
    body: bytes = field(repr=False)
    is_stored: bool = False


@dataclass(frozen=True, slots=True)
class Unclear:
    """Nothing was learned; the intent stays unknown."""

    why: str


@dataclass(frozen=True, slots=True)
class Resolved:
    """What the upstream says of an intent. `evidence` is its answer if that is JSON, else empty; `is_own`: it was asked
    for this very intent, and not for whatever has the same key.
    """

    outcome: Resolution
    reason: str
    evidence: bytes = field(repr=False)
    is_own: bool = False


def conclude(query: Query, unknown_for_s: float, no_after_s: float, answer: Answered) -> Resolved | Unclear:
    """What an answer means. A no is believed only once the upstream can no longer be at it."""
    reason = f"the query answered {answer.status}"
    verdict = query.judge(answer.status, answer.body)
    if verdict == "unclear":
        return Unclear(reason)
    if verdict == "not_applied" and unknown_for_s < no_after_s:
        return Unclear(f"{reason}, too early for a no")
    if verdict == "not_applied" and (answer.is_stored or answer.status in _OF_OTHERS):
        return Unclear(f"{reason}, and it may be of before, or not the API's own")
    evidence = b"" if isinstance(read_json(answer.body), Refused) else answer.body
    return Resolved(verdict, reason, evidence, query.names_one)


class Inquiry:
    """Asks about unknown intents, each in a task of its own, by the rules that are in force then."""

    def __init__(
        self, questions: Questions, sender: Sender, rules: Callable[[], RuleSet], incidents: Incidents, log: Log
    ) -> None:
        self._questions = questions
        self._sender = sender
        self._rules = rules
        self._incidents = incidents
        self._log = log
        self._tasks = Tasks()
        self._asking: set[IntentId] = set()
        self._busy: Counter[str] = Counter()
        self._last = ""

    def begin(self, due: Iterable[IntentId]) -> None:
        """Begin to ask about some of these. Does not wait: what is still being asked about is left out."""
        for id in self._next(due):
            self._asking.add(id)
            self._tasks.spawn(self._inquire(id))

    async def close(self, within_s: float) -> None:
        """Wait for what is under way. What then is broken off is asked about again, by whichever gateway comes next."""
        await self._tasks.drain(within_s)

    def _next(self, due: Iterable[IntentId]) -> list[IntentId]:
        """A turn's share, in a round: where an upstream has no room for its many, the others' few still have theirs."""
        waiting = sorted(id for id in due if id not in self._asking)
        at = bisect_right(waiting, self._last)
        chosen = (waiting[at:] + waiting[:at])[:_OF_A_TURN]
        self._last = chosen[-1] if chosen else ""
        return chosen

    async def _inquire(self, id: IntentId) -> None:
        try:
            record = await self._questions.recall(id)
            upstream = "" if record is None else record.upstream
            if self._busy[upstream] < _OF_AN_UPSTREAM:
                await self._take_turn(id, upstream)
        except StoreUnavailable:
            # It stays due; whoever sweeps says that the store is away.
            pass
        except Exception as error:  # noqa: BLE001  # one intent's record must not end the gateway, or the others' turn
            self._log.error("asking about an intent failed", intent=id, kind=type(error).__name__)
            count_fault(error)
        finally:
            self._asking.discard(id)

    async def _take_turn(self, id: IntentId, upstream: str) -> None:
        self._busy[upstream] += 1
        try:
            question = await self._questions.take(id)
            if question is not None:
                await self._tell(question.record, await self._ask(question))
        finally:
            self._busy[upstream] -= 1

    async def _ask(self, question: Question) -> Resolved | Unclear:
        record, rules = question.record, self._rules()
        upstream = next((each for each in rules.upstreams if each.name == record.upstream), None)
        query = rules.query_of(record.upstream)
        if upstream is None or query is None:
            return Unclear("the policies in force have no query for its upstream")
        # An upstream may know the intent by its digest.
        request = query.request_for(record, digest_of(record.id))
        if request is None:
            return Unclear("its key cannot stand in the query's path")
        answer = await self._answer(upstream, request)
        if isinstance(answer, Unclear):
            return answer
        # The time in which an answer to the write may still come, and the query's own: as those were when it was sent,
        # and as they are by now.
        no_after_s = max(upstream.timeouts.late_s + query.not_before_s, record.no_after_s)
        found = conclude(query, question.unknown_for_s, no_after_s, answer)
        if isinstance(found, Resolved) and found.outcome == "not_applied" and _is_elsewhere(record, upstream):
            return Unclear(f"{found.reason}, but it was sent elsewhere: the upstream has another `url` since")
        return found

    async def _answer(self, upstream: Upstream, request: Request) -> Answered | Unclear:
        """Send the query; the whole answer has to come within the upstream's time."""
        try:
            async with asyncio.timeout(upstream.timeouts.total_s):
                answer = await self._sender.read(upstream, request, WholeBody())
                if isinstance(answer, NotSent | NoReply):
                    return Unclear(f"the query was not answered: {answer.detail}")
                try:
                    return await _whole(answer)
                finally:
                    answer.close()
        except TimeoutError:
            return Unclear(f"the query was not answered within {upstream.timeouts.total_s:g} s")
        except BrokenAnswer as broken:
            return Unclear(f"the query's answer broke off: {broken}")

    async def _tell(self, record: IntentRecord, found: Resolved | Unclear) -> None:
        about = {"intent": record.id, "upstream": record.upstream, "rule": record.rule, "resource": record.resource}
        if isinstance(found, Unclear):
            self._log.info("an intent stays unknown", why=found.why, **about)
            return
        evidence = found.evidence
        if not await self._questions.resolve(record, found.outcome, found.reason, evidence, is_own=found.is_own):
            return
        if found.outcome != "duplicated":
            self._log.info("an unknown intent is resolved", outcome=found.outcome, why=found.reason, **about)
            return
        self._incidents.incident("duplicate-effect")
        self._log.error(
            "an intent took effect more than once: its resource is paused",
            why=found.reason,
            what_to_do="undo what is too much at the upstream, then resume the resource",
            **about,
        )


def _is_elsewhere(record: IntentRecord, upstream: Upstream) -> bool:
    """Whether it was sent to another server than the one that is asked."""
    return record.origin not in ("", upstream.origin.digest)


async def _whole(answer: Answer) -> Answered | Unclear:
    """All of an answer, its coding undone where that can be. Raises BrokenAnswer."""
    body, is_all = await answer.read_small(_LARGEST_ANSWER)
    if not is_all or len(body) > _LARGEST_ANSWER:
        return Unclear(f"the query's answer is larger than {_LARGEST_ANSWER} bytes")
    # An answer to HEAD names the coding of a body that it does not have.
    plain = decoded(body, Headers(answer.headers).all(b"content-encoding"), _LARGEST_ANSWER) if body else body
    if isinstance(plain, Refused):
        return Unclear("the query's answer has a coding that cannot be undone")
    return Answered(answer.status, plain, is_stored=is_stored(answer.headers))
