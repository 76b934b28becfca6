"""G1, G2, G3 and G7 in a history: which write came before which."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Protocol, TypeVar

from tests.history.history import (
    Call,
    Execution,
    History,
    Passage,
    Violation,
    is_bare,
    is_parallel,
    is_queued,
    when_begun,
)


class _Of(Protocol):
    @property
    def resource(self) -> str: ...


_T = TypeVar("_T", bound=_Of)


def falling_arrivals(history: History) -> Iterator[Violation]:
    """No write of an older epoch begins, or gets its last byte, after one of a newer epoch has begun."""
    for passages in _by_life(history, history.passages, lambda one: one.began):
        newest: Passage | None = None
        for passage in sorted(passages, key=lambda one: one.began):
            if newest is not None and passage.epoch < newest.epoch:
                yield Violation("an older write began after a newer one", (newest, passage))
            if newest is None or passage.epoch > newest.epoch:
                newest = passage
        yield from _completed_late(passages)


def _completed_late(passages: Sequence[Passage]) -> Iterator[Violation]:
    begun = sorted(passages, key=lambda one: one.began)
    for at, older in enumerate(begun):
        until = older.whole or older.began
        for newer in begun[at + 1 :]:
            if newer.began >= until:
                break
            if newer.epoch > older.epoch:
                yield Violation("an older write was completed after a newer one had begun", (older, newer))


def falling_executions(history: History) -> Iterator[Violation]:
    """What the API does, it does in the order of epochs, but for what it does after its gateway gave up on it."""
    sent = {call.id: call.at for call in history.calls}
    gone = {passage.id: passage.closed or math.inf for passage in history.passages}
    for executions in _by_life(history, history.executions, when_begun(history)):
        newest: Execution | None = None
        for one in sorted(executions, key=lambda one: one.at):
            given_up = min(gone.get(one.id, math.inf), sent.get(one.id, -math.inf) + history.total_s)
            if newest is not None and one.epoch < newest.epoch and one.at < given_up:
                yield Violation("an older write took effect after a newer one", (newest, one))
            if newest is None or one.epoch > newest.epoch:
                newest = one


def overlaps(history: History) -> Iterator[Violation]:
    """No write begins while one that it has to wait for is under way: an older one, or, unless the resource is a
    parallel one, any other."""
    sent = {call.id: call.at for call in history.calls}
    for resource, passages in _by_resource(history.passages).items():
        under_way: list[tuple[float, Passage]] = []
        for passage in sorted(passages, key=lambda one: one.began):
            under_way = [(until, other) for until, other in under_way if until > passage.began]
            for _, other in under_way:
                if other.epoch != passage.epoch or not is_parallel(resource):
                    yield Violation("two writes were under way at once", (other, passage))
            under_way.append((_surely_until(passage, sent, history.total_s), passage))


def _surely_until(passage: Passage, sent: dict[str, float], total_s: float) -> float:
    """Its ticket lives for `total_s` from its admission, which came after its caller's request; where it had to wait
    for its admission it lives longer than can be told from outside."""
    return min(passage.ended, sent.get(passage.id, -math.inf) + total_s)


def overtaken_writes(history: History) -> Iterator[Violation]:
    """What is sent under an older epoch, after a newer one was granted, never comes to the API; where the grant was
    lost, from the moment on at which the loss is told."""
    grants = defaultdict[str, list[Call]](list)
    for call in history.calls:
        if call.granted is not None:
            grants[call.resource].append(call)
    arrived = {passage.id for passage in history.passages}
    for call in history.calls:
        if call.kind != "write" or call.epoch is None or call.id not in arrived or is_queued(call.resource):
            continue
        for grant in grants[call.resource]:
            if _granted(grant) > call.epoch and _answered(grant) < call.at and not _is_forgotten(grant, call, history):
                yield Violation("a write was forwarded after a newer lease had been granted", (grant, call))
                break


def grants_that_do_not_grow(history: History) -> Iterator[Violation]:
    """No epoch is granted twice, and whoever asks after an answer gets a larger one."""
    for calls in _by_resource(history.calls).values():
        granted = sorted((call for call in calls if call.granted is not None), key=_granted)
        for one, following in pairwise(granted):
            if one.granted == following.granted:
                yield Violation("an epoch was granted twice", (one, following))
            if one.at > _answered(following):
                yield Violation("a later grant got a smaller epoch", (following, one))


def _by_life(history: History, found: Sequence[_T], began: Callable[[_T], float]) -> Iterator[list[_T]]:
    """By resource. Where epochs come from elsewhere, what an operator let go on begins anew with a forgotten record."""
    for resource, ones in _by_resource(found).items():
        lives = defaultdict[int, list[_T]](list)
        for one in ones:
            lives[history.accepted_before(began(one)) if is_bare(resource) else 0].append(one)
        yield from lives.values()


def _is_forgotten(grant: Call, call: Call, history: History) -> bool:
    """Whether a grant may have been lost, and the call came before anybody was told."""
    return any(
        grant.at <= loss.found and loss.since <= _answered(grant) and call.at <= loss.found for loss in history.losses
    )


def _granted(call: Call) -> int:
    return call.granted or 0


def _answered(call: Call) -> float:
    return math.inf if call.answered is None else call.answered


def _by_resource(found: Sequence[_T]) -> dict[str, list[_T]]:
    sorted_out = defaultdict[str, list[_T]](list)
    for one in found:
        sorted_out[one.resource].append(one)
    return sorted_out
