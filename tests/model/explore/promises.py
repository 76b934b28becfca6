"""G1 to G5 as predicates. Each says in words what was broken, or nothing.

They look at what happened, and not at how the store came to it: which epochs were granted and seen, what reached the
upstream and when, what was executed there, and what the records then say.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from tests.model.explore.questions import ticket_of
from tests.model.explore.world import HOLDERS, Attempt, World

Broken = tuple[str, ...]


class Books(NamedTuple):
    """What the store knows of writes: by the id of a record its state, and the tickets."""

    states: Mapping[str, str]
    tickets: Collection[str]


_MAY_HAVE_ACTED = frozenset({"begun", "broken", "whole", "executed", "dropped"})


def at_admission(world: World, attempt: Attempt) -> Broken:
    """The store makes a ticket; `world` is before that."""
    return tuple(_admitted(world, attempt))


def _admitted(world: World, attempt: Attempt) -> Iterator[str]:
    if attempt.token.epoch < world.seen:
        yield f"G1: {name_of(attempt)} is admitted, though a newer epoch was seen"
    if attempt.token.epoch < world.granted:
        yield f"G2: {name_of(attempt)} is admitted, though a newer lease was granted"


def in_order(world: World, attempt: Attempt) -> Broken:
    """Bytes of the attempt reach the upstream; `world` is before that."""
    return tuple(_out_of_order(attempt, _forwarded_beside(world, attempt)))


def _out_of_order(attempt: Attempt, others: Iterable[Attempt]) -> Iterator[str]:
    for other in others:
        if other.token.epoch > attempt.token.epoch:
            yield f"G3: bytes of {name_of(attempt)} leave after the newer {name_of(other)} was forwarded"
        elif other.token.epoch < attempt.token.epoch and other.is_in_flight:
            yield f"G3: {name_of(attempt)} is forwarded while the older {name_of(other)} is in flight"


def sent_once(world: World, attempt: Attempt) -> Broken:
    """The same, where the upstream does not refuse a second execution by itself."""
    if not attempt.slot.keyed or attempt.was_forwarded:
        return ()
    return tuple(
        f"G4: {name_of(attempt)} is forwarded, though nobody has proved that {name_of(other)} was not applied"
        for other in _forwarded_beside(world, attempt)
        if other.slot.keyed and not other.proved and not other.forgiven and other.arrived in _MAY_HAVE_ACTED
    )


def _forwarded_beside(world: World, attempt: Attempt) -> list[Attempt]:
    return [other for other in world.attempts if other.slot != attempt.slot and other.was_forwarded]


def at_execution(world: World) -> Broken:
    """The upstream has acted."""
    executed = [one for one in world.attempts if one.slot.keyed and one.arrived == "executed" and not one.forgiven]
    if len(executed) > 1:
        return ("G4: the intent took effect twice",)
    return ()


def of_records(world: World, intent: str, now: Books, at_last: Books) -> Broken:
    """`at_last`: once time has passed, and what gateways left in flight was swept."""
    return tuple(_dishonest(world, intent, now, at_last))


def _dishonest(world: World, intent: str, now: Books, at_last: Books) -> Iterator[str]:
    keyed = [one for one in world.attempts if one.slot.keyed]
    if at_last.tickets or "in_flight" in at_last.states.values():
        yield "G5: a write stays in flight for ever"
    if now.states.get(intent) == "applied" and not any(one.arrived == "executed" for one in keyed):
        yield "G5: the intent is said to be applied, and nothing was executed"
    if world.lost in ("unnoticed", "open"):
        return
    if now.states.get(intent) == "not_applied" and any(_may_have_effect(one) for one in keyed):
        yield "G5: the intent is said not to be applied, and may be"
    for one in world.attempts:
        told = at_last.states.get(intent if one.slot.keyed else ticket_of(one.slot))
        if _may_have_effect(one) and told not in ("applied", "unknown") and not _is_settled(one, now):
            yield f"G5: nobody is told that {name_of(one)} may have been executed"


def _may_have_effect(attempt: Attempt) -> bool:
    return attempt.arrived in ("begun", "whole", "executed") and not (attempt.proved or attempt.forgiven)


def _is_settled(attempt: Attempt, now: Books) -> bool:
    """As applied: of a write without a key nothing is kept then."""
    return not attempt.slot.keyed and attempt.outcome == "applied" and ticket_of(attempt.slot) not in now.tickets


def name_of(attempt: Attempt) -> str:
    holder, keyed, number = attempt.slot
    again = "" if number == 0 else f" ({number + 1})"
    return f"{HOLDERS[holder]}'s {'intent' if keyed else 'write'}{again}"
