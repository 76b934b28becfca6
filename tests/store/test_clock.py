"""What a gateway expects of the store's clock: drift is followed, a jump believed once no ticket depends on it."""

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
    clock.hold(90)

    hear(clock, hand, 8600)
    hand.now += 89
    hear(clock, hand, 8689)
    assert clock.expected_ms() == 5_089_000

    hand.now += 1
    hear(clock, hand, 8690)
    assert clock.expected_ms() == 8_690_000


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
