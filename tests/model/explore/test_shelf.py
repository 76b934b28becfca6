"""A store is a value: a script makes another one of it, and so does time."""

import pytest

from tests.model.explore import questions
from tests.model.explore.era import ERA_MS
from tests.model.explore.gateway import Gateways, Memory
from tests.model.explore.questions import has_ticket, ticket_of, tickets_in
from tests.model.explore.shelf import Change, Shelf, Unplantable
from tests.model.explore.world import GRACE_MS, TTL_MS, Slot, Token

SECRET = b"s" * 16
SLOT = Slot(0, True, 0)


def test_time_ends_tickets(gateways: Gateways) -> None:
    """A ticket lives past its deadline for its grace, and is swept behind it."""
    _, granted, memory = gateways.ask(0, gateways.shelf.empty, Memory(), questions.grant, 0, SECRET, 1000)
    _, admitted, _ = gateways.ask(0, granted, memory, questions.admit, SLOT, Token(ERA_MS, SECRET), False)
    ticket = ticket_of(SLOT)
    assert tickets_in(admitted) == {ticket: TTL_MS}

    in_time = gateways.shelf.later(admitted, TTL_MS + GRACE_MS)
    too_late = gateways.shelf.later(admitted, TTL_MS + GRACE_MS + 1)

    assert has_ticket(gateways.ask(0, in_time, memory, questions.sweep, ticket)[1], ticket)
    assert not has_ticket(gateways.ask(0, too_late, memory, questions.sweep, ticket)[1], ticket)


def test_a_change_is_planted_where_its_text_stands_once(store_url: str) -> None:
    """A fault that is not there would be found harmless."""
    with pytest.raises(Unplantable, match="0 times"):
        Shelf(store_url, [Change("no script says so", "")])
    with pytest.raises(Unplantable, match=r"times: 'clock\.read'"):
        Shelf(store_url, [Change("clock.read", "")])
