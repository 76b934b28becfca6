"""G5 in a history: the gateways' records in the end, held against what the API did. What the store lost, and operators
were told of, may be missing from them.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from tests.history.effects import told_applied
from tests.history.history import Call, Execution, History, Violation, when_begun

# As gateways have it where nobody says otherwise.
STORE_PATIENCE_S = 2.0
# What was executed may be known or not; it is never held for not done, nor forgotten.
_MAY_BE_DONE = frozenset({"applied", "unknown"})
_PROVED_NOT_DONE = frozenset({"not_applied", "failed", "superseded", "denied", "expired"})


def untrue_records(history: History) -> Iterator[Violation]:
    """What was executed is applied or unknown in the table; what is applied was executed."""
    states = {(intent.resource, intent.key): intent for intent in history.intents if intent.key is not None}
    for one in _remembered(history):
        if one.key is None:
            continue
        intent = states.get((one.resource, one.key))
        if intent is None:
            yield Violation("a write was executed, and the table has nothing of it", (one,))
        elif intent.state in _PROVED_NOT_DONE:
            yield Violation("a write was executed, and the table says that it was not", (one, intent))
        elif intent.state not in _MAY_BE_DONE:
            yield Violation(f"a write was executed, and is {intent.state} in the end", (one, intent))
    done = {(one.resource, one.key) for one in history.executions}
    for intent in history.intents:
        if intent.state == "applied" and intent.key is not None and (intent.resource, intent.key) not in done:
            yield Violation("the table says that a write is applied, and it was not executed", (intent,))


def unrecorded_endings(history: History) -> Iterator[Violation]:
    """Each execution, those without a key too, has an ending in the audit trail that allows for it."""
    done = Counter((one.resource, one.epoch) for one in _remembered(history))
    for (resource, epoch), times in sorted(done.items()):
        fence = history.fences.get(resource)
        ended = fence.endings.get(epoch, 0) if fence is not None else 0
        if ended < times:
            said = f"{resource}, epoch {epoch}: {times} executed, {ended} ended as applied or unknown"
            yield Violation("the audit trail has fewer writes than were executed", (said,))


def broken_words(history: History) -> Iterator[Violation]:
    """What a caller was told to be applied is recorded as applied, unless its gateway was killed over the record, or it
    may have been lost, as operators were told."""
    states = {(intent.resource, intent.key): intent for intent in history.intents if intent.key is not None}
    answered = {passage.id: passage.answered for passage in history.passages}
    last_death = max(history.deaths, default=0.0)
    for call in history.calls:
        if not told_applied(call) or call.key is None or call.at < last_death:
            continue
        losses = [loss for loss in history.losses if call.at <= loss.found]
        if any((call.answered or 0.0) >= loss.since for loss in losses):
            continue
        if losses and _is_recorded_later(call, answered.get(call.id), history.full):
            continue
        intent = states.get((call.resource, call.key))
        if intent is None or intent.state != "applied":
            yield Violation("a caller was told that it is applied, and the table does not say so", (call, intent))


def _is_recorded_later(call: Call, answered: float | None, full: Sequence[tuple[float, float]]) -> bool:
    """Whether its gateway tells what it knows, and records that when it can: where the store refuses to, or when it has
    waited for it long enough. `answered`: when the API had."""
    told = call.answered or 0.0
    is_refused = any(since <= told <= until for since, until in full)
    return is_refused or (answered is not None and told - answered >= STORE_PATIENCE_S)


def left_in_flight(history: History) -> Iterator[Violation]:
    """Once everything is healed and all deadlines have passed, nothing is in flight."""
    for intent in history.intents:
        if intent.state == "in_flight":
            yield Violation("an intent stays in flight", (intent,))
    for resource, fence in history.fences.items():
        if fence.in_flight:
            yield Violation("a ticket stays in flight", (f"{resource}: {fence.in_flight}",))


def low_fences(history: History) -> Iterator[Violation]:
    """The highest epoch of a resource is that of what was executed, or larger."""
    for one in _remembered(history):
        fence = history.fences.get(one.resource)
        if fence is None or fence.epoch < one.epoch:
            yield Violation("a write was executed above the highest epoch", (one, fence))


def unexpected_losses(history: History) -> Iterator[Violation]:
    """A store that keeps what it acknowledges loses nothing."""
    for loss in history.losses if not history.may_lose else ():
        yield Violation("the store has lost what it acknowledged", (loss,))


def _remembered(history: History) -> Iterator[Execution]:
    begun = when_begun(history)
    return (one for one in history.executions if history.loss_of(begun(one)) is None)
