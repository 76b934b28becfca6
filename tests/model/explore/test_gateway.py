"""A gateway's calls are functions: of the store, and of what the gateway remembers."""

import asyncio

import pytest

from gateway.core.decision import Refused
from gateway.core.lease import Lease
from tests.model.explore import questions
from tests.model.explore.era import ERA_MS
from tests.model.explore.gateway import Gateways, Memory, ShelfStore
from tests.model.explore.world import Slot, Token

SECRET = b"s" * 16


def test_a_call_leaves_the_state_that_it_was_given_as_it_was(gateways: Gateways) -> None:
    """Each answer comes with the store behind it; the same question is not asked twice."""
    empty = gateways.shelf.empty

    first = gateways.ask(0, empty, Memory(), questions.grant, 0, SECRET, 1000)
    runs = gateways.shelf.calls
    second = gateways.ask(0, empty, Memory(), questions.grant, 0, SECRET, 1000)

    lease, after, memory = first
    assert isinstance(lease, Lease)
    assert (lease.epoch, memory.seen) == (ERA_MS, ERA_MS)
    assert after is not empty
    assert not empty.content
    assert second == first
    assert gateways.shelf.calls == runs


def test_what_a_gateway_remembers_comes_with_the_call(gateways: Gateways) -> None:
    """A token that the store does not know is a sign of a loss to whoever has seen its epoch."""
    asked = (questions.admit, Slot(0, False, 0), Token(ERA_MS, SECRET), False)

    told, _, _ = gateways.ask(0, gateways.shelf.empty, Memory(), *asked)
    told_by_one_who_remembers, _, _ = gateways.ask(0, gateways.shelf.empty, Memory(seen=ERA_MS), *asked)

    assert isinstance(told, Refused)
    assert told.decision.name == "token-invalid"
    assert told_by_one_who_remembers.decision.name == "store-regressed"


def test_a_call_that_waits_for_something_is_a_fault_of_the_model(gateways: Gateways) -> None:
    """Nothing else would happen meanwhile."""

    async def waits(store: ShelfStore) -> None:
        await asyncio.sleep(0)

    with pytest.raises(AssertionError, match="nothing to wait for"):
        gateways.ask(0, gateways.shelf.empty, Memory(), waits)
