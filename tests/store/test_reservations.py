"""What is reserved and not said to be used is asked about, and given back only where nothing was done."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.budget import Budget
from gateway.core.outcome import Outcome
from gateway.core.write import Write
from gateway.store.budgets import reserve
from gateway.store.fence import FenceStore
from gateway.store.keys import budget_keys, pending_reservations
from gateway.store.reservations import judge_reservations
from tests.store.due import make_due
from tests.store.fences import HELD, admitted, bare, keyed, name_of, resolved, settled
from tests.store.overdue import make_overdue

OF = replace(HELD, budgets=(Budget("tenant", 1000, count=1),))
TAG = budget_keys(OF.upstream.name, OF.name)


def costing(write: Write) -> Write:
    return replace(write, costs=(0,))


KEYED, KEYLESS = costing(keyed(bare(1, of=OF))), costing(bare(1, of=OF))


async def has_room(store: FenceStore) -> bool:
    """Whether another write could be made."""
    other = costing(keyed(bare(1, of=OF), digest=f"{'another':-<22}"))
    return await reserve(store, other, store.new_ticket(other.resource)) is None


@pytest.mark.parametrize("write", [KEYED, KEYLESS], ids=["an intent", "a write without a key"])
@pytest.mark.parametrize(
    ("then", "given_back"),
    [("never admitted", True), ("in flight", False), ("applied", False), ("unknown", False), ("not_applied", True)],
)
async def test_what_a_gateway_left_behind(
    store: FenceStore, raw: Any, write: Write, then: str, given_back: bool
) -> None:
    """It died after it had reserved, and before it could say what became of it."""
    if then == "never admitted":
        assert await reserve(store, write, store.new_ticket(write.resource)) is None
    else:
        one = await admitted(store, write)
        if then == "unknown":
            make_overdue(raw, write.resource, one.ticket)
            await store.sweep(write.resource, one.ticket)
        elif then != "in flight":
            # As what knows of no budgets settles.
            outcome: Outcome = "applied" if then == "applied" else "not_applied"
            await FenceStore.settle(store, one, outcome, "a test", None)

    await judge_reservations(store, OF)
    assert not await has_room(store), "it may yet be admitted"
    make_due(raw)
    await judge_reservations(store, OF)
    assert await has_room(store) == given_back


async def test_an_unknown_one_is_asked_about_until_it_is_resolved(store: FenceStore, raw: Any) -> None:
    """By whomever. What was applied is asked about no more."""
    one = await admitted(store, KEYED)
    await settled(store, one, "unknown")
    make_due(raw)
    await judge_reservations(store, OF)
    pending = pending_reservations(OF.upstream.name, OF.name)
    assert raw.zcard(pending) == 1
    make_due(raw)
    await resolved(store, "applied")
    await judge_reservations(store, OF)

    assert raw.zcard(pending) == 0
    assert not await has_room(store)


async def test_an_attempt_is_not_judged_by_what_is_known_of_another(store: FenceStore, raw: Any) -> None:
    """The one before it was not applied; this one may still be admitted."""
    one = await admitted(store, KEYED)
    await FenceStore.settle(store, one, "not_applied", "a test", None)
    make_due(raw)
    two = store.new_ticket(KEYED.resource)
    assert await reserve(store, KEYED, two) is None
    await judge_reservations(store, OF)

    assert not await has_room(store)
    reply = await FenceStore.admit(store, KEYED, two, ttl_s=30, queued=False, behind=0)
    assert name_of(reply) == "Admitted"
    make_due(raw)
    await judge_reservations(store, OF)
    assert not await has_room(store)


async def test_what_has_left_its_window_is_forgotten(store: FenceStore, raw: Any) -> None:
    """Nobody is asked about it any more."""
    await reserve(store, KEYED, store.new_ticket(KEYED.resource))
    make_due(raw)
    raw.delete(*raw.keys(f"{TAG}r:*"))
    await judge_reservations(store, OF)

    assert raw.zcard(pending_reservations(OF.upstream.name, OF.name)) == 0
