"""How long writes last, by rules that change, in several processes."""

import pytest

from gateway.store.lasting import Lasting


class Rules:
    """Of one process, at a clock that is set by hand."""

    def __init__(self, seconds: float) -> None:
        self.now = 1000.0
        self.seconds = seconds
        self.lasting = Lasting(lambda: self.now)
        self.lasting.by_rules = lambda: self.seconds

    def lasts(self, at: float, seconds: float) -> float:
        self.now, self.seconds = at, seconds
        return self.lasting()


def test_what_was_admitted_by_former_rules_lasts_as_long_as_they_said() -> None:
    """From when they were asked last: another write may have been admitted then. A grace longer, for what is told."""
    rules = Rules(45.0)
    told = [rules.lasting()]
    for at, seconds in ((1010.0, 45.0), (1011.0, 5.0), (1055.9, 5.0), (1056.0, 5.0), (1057.0, 60.0), (1058.0, 5.0)):
        told.append(rules.lasts(at, seconds))

    assert told == [45.0, 45.0, 45.0, 45.0, 5.0, 60.0, 60.0]


def test_a_write_that_is_admitted_by_the_rules_it_was_judged_by_lasts_as_long_as_those_say() -> None:
    """Its body came, or its turn, once other rules were in force; a session follows the rule that it began with."""
    rules = Rules(5.0)
    rules.lasting.note(30.0)

    assert [rules.lasts(at, 5.0) for at in (1000.0, 1030.0, 1031.0)] == [30.0, 30.0, 5.0]


def test_nothing_is_known_to_last_before_anybody_has_said() -> None:
    lasting = Lasting(lambda: 1000.0)

    assert (lasting(), lasting.told()) == (0.0, "")


def test_others_hear_until_when_a_write_may_be_in_flight() -> None:
    """Neither later than the one that told it, nor any longer because it is told on."""
    one, other = Rules(45.0), Rules(5.0)
    assert one.lasting.told() == "45000:46000"

    other.lasting.hear("45000:46000", 1000.0)
    assert other.lasts(1010.0, 5.0) == 45.0
    assert other.lasting.told() == "45000:36000 5000:6000"
    other.lasting.hear("45000:36000", 1010.0)

    assert [other.lasts(at, 5.0) for at in (1045.9, 1046.0)] == [45.0, 5.0]


@pytest.mark.parametrize("words", ["", "5000:100"])
def test_what_is_heard_shortens_nothing(words: str) -> None:
    rules = Rules(5.0)
    rules.lasting.note(5.0)
    rules.lasting.hear(words, 1000.0)

    assert rules.lasts(1005.9, 0.0) == 5.0
