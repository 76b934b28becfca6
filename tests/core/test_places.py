"""How many may wait, and who finds a place when hardly any is left."""

import pytest

from gateway.core.decision import OVERLOADED, Facts
from gateway.core.places import Places, Shed, Wait, overloaded


class Counted:
    """Implements `Pressure`."""

    def __init__(self) -> None:
        self.waiting: dict[str, int] = {}
        self.turned_away: list[str] = []

    def waits(self, what: Wait, change: int) -> None:
        self.waiting[what] = self.waiting.get(what, 0) + change

    def shed(self, what: Shed) -> None:
        self.turned_away.append(what)


def taken(places: Places, what: Wait, *, first: bool = False) -> int:
    """How many places there were for this."""
    count = 0
    while places.take(what, first=first):
        count += 1
    return count


def test_one_kind_of_waiting_leaves_places_to_others_and_a_quarter_to_those_that_go_first() -> None:
    """Of sixteen: six each for two kinds of writes, and four that only reads and renewals get."""
    places = Places(16)

    assert [taken(places, "lease"), taken(places, "admission"), taken(places, "body")] == [6, 6, 0]
    assert taken(places, "body", first=True) == 4


def test_a_place_that_is_given_back_is_anothers() -> None:
    """However its holder ended."""
    places = Places(16)
    full = taken(places, "body")

    with pytest.raises(ValueError, match="broke"), places.taken("body") as has_place:
        assert not has_place
        raise ValueError("broke")
    assert taken(places, "body") == 0
    places.free("body")
    with places.taken("body") as has_place:
        assert has_place
    assert (full, taken(places, "body")) == (6, 1)


def test_one_that_can_no_longer_be_turned_away_gets_a_place() -> None:
    """It is counted like any other, so that the next one finds fewer."""
    places = Places(16)
    taken(places, "admission")

    assert places.take("admission", anyway=True)
    places.free("admission")
    assert not places.has_one("admission")


def test_who_waits_and_who_was_turned_away_is_counted() -> None:
    """By what for; a place that is given back counts no longer."""
    counted = Counted()
    places = Places(16, counted)

    full = taken(places, "connection")
    places.free("connection")
    places.turned_away("memory")

    assert (counted.waiting, counted.turned_away) == ({"connection": full - 1}, ["connection", "memory"])


def test_without_a_bound_there_is_no_end_of_places() -> None:
    """For what the gateway itself does."""
    places = Places()

    assert all(places.take("connection") for _ in range(10_000))


def test_who_is_turned_away_is_told_when_to_come_back() -> None:
    """And that nothing was done; of what is known of the write, only its names."""
    refused = overloaded(Facts(resource="report/7", epoch=42, intent="i"), "all are busy")

    assert (refused.decision, refused.why) == (OVERLOADED, "all are busy")
    assert refused.detail.startswith("Nothing was done: ")
    assert refused.facts == Facts(resource="report/7", epoch=42, retry_after_s=2)
