"""G4, G6 and the gateways' word in a history: how often an action took effect, and what its callers were told."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from tests.history.history import Call, Execution, History, Violation, is_native, is_queued, when_begun

# Whoever is told one of these was told that nothing of this request was sent. `outcome-unknown` has two meanings: a 409
# says it of an attempt before.
NOT_FORWARDED = frozenset(
    (
        *("stale-epoch", "holder-mismatch", "lease-expired", "token-required", "token-invalid", "token-malformed"),
        *("takeover-pending", "resource-busy", "intent-in-progress", "intent-mismatch", "answer-not-kept", "replayed"),
        *("upstream-unreachable", "store-unavailable", "no-room", "paused", "quota-exceeded", "bad-request"),
        *("no-policy", "no-upstream", "resource-unresolved", "header-malformed", "store-regressed"),
    )
)


def executed_twice(history: History) -> Iterator[Violation]:
    """No intent takes effect twice, and no request either; but for what an operator let go on as forgotten."""
    by_action = defaultdict[tuple[str, str], list[Execution]](list)
    by_request = defaultdict[str, list[Execution]](list)
    begun = when_begun(history)
    for one in history.executions:
        by_request[one.id].append(one)
        if one.key is not None:
            by_action[one.resource, one.key].append(one)
    for executions in (*by_action.values(), *(each for each in by_request.values() if each[0].key is None)):
        if not _each_forgotten_before_the_next(history, begun, executions):
            yield Violation("an intent took effect twice", tuple(executions))


def _each_forgotten_before_the_next(
    history: History, begun: Callable[[Execution], float], executions: Sequence[Execution]
) -> bool:
    for one, following in pairwise(sorted(executions, key=lambda one: one.at)):
        loss = history.loss_of(begun(one))
        if loss is None or begun(following) < loss.accepted:
            return False
    return True


def lost_acknowledgements(history: History) -> Iterator[Violation]:
    """What callers were told to be applied, the API did."""
    done = {one.id for one in history.executions}
    done_by_key = {(one.resource, one.key) for one in history.executions if one.key is not None}
    for call in _writes(history):
        is_done = call.id in done or (is_native(call.resource) and (call.resource, call.key) in done_by_key)
        if told_applied(call) and not is_done:
            yield Violation("a write was acknowledged and not executed", (call,))
        if call.decision == "replayed" and call.status < 300 and (call.resource, call.key) not in done_by_key:
            yield Violation("an intent was replayed and never executed", (call,))


def refused_and_sent(history: History) -> Iterator[Violation]:
    """What was refused as not forwarded never came to the API's door, and what it refused itself had no effect."""
    arrived = Counter(passage.id for passage in history.passages)
    done = {one.id: one for one in history.executions}
    for call in _writes(history):
        if _is_not_forwarded(call) and arrived[call.id]:
            evidence = (call, *(passage for passage in history.passages if passage.id == call.id))
            yield Violation("a write was refused as not forwarded, and was forwarded", evidence)
        if call.outcome == "not_applied" and call.id in done:
            yield Violation("a write was told not to be applied, and was", (call, done[call.id]))


def faulty_answers(history: History) -> Iterator[Violation]:
    """No gateway fails by itself, and none answers without saying what was decided."""
    for call in history.calls:
        if call.decision == "internal-error" or (call.answered is not None and not call.decision):
            yield Violation("a gateway answered with a fault of its own", (call,))


def refused_reads(history: History) -> Iterator[Violation]:
    """Reads pass whatever the store does (G6)."""
    for call in history.calls:
        if call.kind == "read" and call.decision in ("store-unavailable", "store-regressed", "internal-error"):
            yield Violation("a read was refused because of the store", (call,))


def told_applied(call: Call) -> bool:
    return call.decision == "forwarded" and call.outcome == "applied"


def _is_not_forwarded(call: Call) -> bool:
    # What is sent later may have been taken, and sent, before its caller is told of anything: of this, at least, where
    # its lease ended meanwhile.
    is_told = bool(call.intent) or call.decision in ("replayed", "store-unavailable", "store-regressed")
    if is_queued(call.resource) and is_told:
        return False
    return call.decision in NOT_FORWARDED or (call.decision == "outcome-unknown" and call.status == 409)


def _writes(history: History) -> Iterator[Call]:
    return (call for call in history.calls if call.kind == "write")
