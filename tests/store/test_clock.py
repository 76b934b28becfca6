"""What a gateway expects of the store's clock: drift is followed, a jump believed once no ticket depends on it."""

import pytest

from gateway.store.clock import StoreClock
from tests.hand_clock import HandClock


def learned(hand: HandClock, store_s: float) -> StoreClock:
    clock = StoreClock(hand)
    clock.learn(round(store_s * 1000), hand.now, hand.now)
    return clock


def hear(clock: StoreClock, hand: HandClock, store_s: float, took_s: float = 0.0) -> None:
    """A reply that was asked for `took_s` ago."""
    clock.learn(round(store_s * 1000), hand.now - took_s, hand.now)


def test_the_expectation_goes_on_between_replies() -> None:
    """Whatever this machine's clock counts, suspension included, the store's is expected to have counted too."""
    hand = HandClock()
    clock = learned(hand, 5000)
    hand.now += 600

    assert clock.expected_ms() == 5_600_000


def test_a_slow_reply_is_no_jump() -> None:
    """The store read its clock at any instant between question and answer."""
    hand = HandClock()
    clock = learned(hand, 5000)
    hand.now += 10

    hear(clock, hand, 5001, took_s=9.5)

    assert clock.expected_ms() == 5_010_000


def test_drift_is_followed() -> None:
    """Differences below the grace are taken as they come."""
    hand = HandClock()
    clock = learned(hand, 5000)

    hear(clock, hand, 5000.3)

    assert clock.expected_ms() == 5_000_300


def test_a_step_back_is_believed_at_once() -> None:
    """Tickets look younger by it: nothing ends early."""
    hand = HandClock()
    clock = learned(hand, 5000)

    hear(clock, hand, 4000)

    assert clock.expected_ms() == 4_000_000


def test_a_step_forward_is_believed_no_sooner_than_the_longest_write_lasts() -> None:
    """Also where this gateway itself never sent one: another's may be in flight."""
    hand = HandClock()
    clock = learned(hand, 5000)
    clock.longest_s = lambda: 120.0

    hear(clock, hand, 8600)
    hand.now += 119
    hear(clock, hand, 8719)
    assert clock.expected_ms() == 5_119_000

    hand.now += 1
    hear(clock, hand, 8720)
    assert clock.expected_ms() == 8_720_000


def test_a_step_forward_is_believed_when_all_tickets_from_before_have_ended() -> None:
    """Until the longest ticket's life has passed since the step, the old expectation stands."""
    hand = HandClock()
    clock = learned(hand, 5000)
    clock.longest_s = lambda: 90.0

    hear(clock, hand, 8600)
    hand.now += 89
    hear(clock, hand, 8689)
    assert clock.expected_ms() == 5_089_000

    hand.now += 1
    hear(clock, hand, 8690)
    assert clock.expected_ms() == 8_690_000


def test_the_furthest_that_it_may_say_counts_steps_that_nobody_believes_yet() -> None:
    """Epochs may have been granted by it. What is heard goes by the last reply alone."""
    hand = HandClock()
    clock = learned(hand, 5000)
    hear(clock, hand, 8600)
    hand.now += 1

    assert (clock.expected_ms(), clock.furthest_ms(), clock.heard_ms()) == (5_001_000, 8_601_000, 8_601_000)
    hear(clock, hand, 5001)
    assert (clock.expected_ms(), clock.furthest_ms(), clock.heard_ms()) == (5_001_000, 8_601_000, 5_001_000)


STEPS: dict[str, tuple[list[float], str]] = {
    "never": ([5000, 5000.9, 5000], ""),
    "a step": ([5000, 4970], " set-back:30000 before:5000000"),
    "two steps": ([5000, 4970, 4960], " set-back:40000 before:5000000"),
    "a step forward that nobody believed": ([5000, 5030, 5000], " set-back:30000 before:5030000"),
    "it has caught up": ([5000, 4970, 5000], " set-back:0 before:5000000"),
}


@pytest.mark.parametrize("steps", STEPS)
def test_what_is_from_before_a_clock_was_set_back_may_be_older(steps: str) -> None:
    """By all steps together; until the instant at which it stood then."""
    (first, *others), words = STEPS[steps]
    hand = HandClock()
    clock = learned(hand, first)
    for store_s in others:
        hear(clock, hand, store_s)

    assert clock.set_back() == words


OLDER: dict[str, tuple[list[float], str]] = {
    "never": ([5000, 5010], ""),
    "slewed": ([5000, 5009.5], ""),
    "a step back": ([5000, 5010, 4990], "30000/0/4980000"),
    "back again": ([5000, 4970, 4960], "20000/4960000/4950000"),
    "a step forward and back": ([5000, 5040, 5020], "30000/5030000/5010000"),
    "back and forward": ([5000, 4970, 5020], ""),
}


@pytest.mark.parametrize("case", OLDER)
def test_what_was_made_before_the_last_step_is_so_much_older(case: str) -> None:
    """Made by the clock of then, and surely not since: from the least that it said then to the least since."""
    (first, *others), told = OLDER[case]
    hand = HandClock()
    clock = learned(hand, first)
    for store_s in others:
        hand.now += 10
        hear(clock, hand, store_s)

    assert clock.older() == told


def test_nothing_made_before_a_step_is_left_after_the_longest_lease() -> None:
    """A day: then there is nothing to tell."""
    hand = HandClock()
    clock = learned(hand, 5000)
    hear(clock, hand, 4970)
    hand.now += 86_399
    assert clock.older() == "30000/0/4970000"
    hand.now += 2

    assert clock.older() == ""


def test_a_clock_that_was_set_back_right_never_jumped() -> None:
    """A step that is taken back before it was believed is forgotten, and a later one waits its own time."""
    hand = HandClock()
    clock = learned(hand, 5000)
    hear(clock, hand, 8600)
    hand.now += 50
    hear(clock, hand, 5050)
    hear(clock, hand, 8650)
    hand.now += 50

    hear(clock, hand, 8700)

    assert clock.expected_ms() == 5_100_000


def test_a_second_step_waits_its_own_time() -> None:
    """Tickets may have been made between the two."""
    hand = HandClock()
    clock = learned(hand, 5000)
    hear(clock, hand, 8600)
    hand.now += 50
    hear(clock, hand, 15_650)
    hand.now += 59
    hear(clock, hand, 15_709)
    assert clock.expected_ms() == 5_109_000

    hand.now += 1
    hear(clock, hand, 15_710)
    assert clock.expected_ms() == 15_710_000


@pytest.mark.parametrize("steps", [(3600,), (3600, 7200), (-3600, 0), (3600, 0, 3600)])
def test_no_step_makes_anything_older_than_it_is(steps: tuple[int, ...]) -> None:
    """Not either once it is believed."""
    hand = HandClock()
    clock = learned(hand, 5000)
    hand.now += 600
    since_ms, since = 5_600_000, hand.now
    for step in steps:
        for _ in range(90):
            hand.now += 1
            hear(clock, hand, 5000 + hand.now - since + 600 + step)
            assert clock.surely_since_s(since_ms) <= hand.now - since


def test_what_is_from_before_the_first_reply_is_as_old_as_that() -> None:
    """The clock may have stepped just before."""
    hand = HandClock()
    clock = learned(hand, 5000)
    hand.now += 10

    assert clock.surely_since_s(1_400_000) == 10
    assert clock.surely_since_s(5_004_000) == 6


def test_servers_whose_clocks_differ_are_no_steps() -> None:
    """They are asked in turns: else no age would ever be sure."""
    hand = HandClock()
    clock = learned(hand, 5000)
    for _ in range(100):
        hand.now += 1
        hear(clock, hand, 4003 + hand.now)
        hear(clock, hand, 4000 + hand.now)

    assert clock.surely_since_s(5_001_000) >= 98
