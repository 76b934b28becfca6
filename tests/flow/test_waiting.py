"""Lines and wake-ups."""

import pytest

from gateway.core.write import ResourceKey
from gateway.flow.waiting import Line, Lines, Wakes

A, B = ResourceKey("a"), ResourceKey("b")
# Long enough that a wake-up that is lost fails the test by its own time limit.
_EVER_S = 3_600.0


def test_a_line_keeps_the_order_of_arrival() -> None:
    """The first has its turn at once, each other one when all before it have left."""
    line = Line()
    first, second, third = line.join(), line.join(), line.join()

    assert [place.is_set() for place in (first, second, third)] == [True, False, False]
    assert line.behind_first == 2
    assert not line.leave(first)
    assert [place.is_set() for place in (second, third)] == [True, False]


def test_whoever_leaves_from_the_middle_passes_no_turn_on() -> None:
    """The first keeps its turn; the last one out is told that nobody is left."""
    line = Line()
    first, second, third = line.join(), line.join(), line.join()

    assert not line.leave(second)
    assert not third.is_set()
    assert not line.leave(first)
    assert third.is_set()
    assert line.leave(third)
    assert line.behind_first == 0


def test_a_resource_has_one_line_until_it_is_closed() -> None:
    """Nothing is kept of a resource that nobody waits for."""
    lines = Lines()
    line = lines.line(A)

    assert lines.line(A) is line
    lines.close(A)
    lines.close(A)
    assert lines.line(A) is not line


async def test_a_wake_up_before_the_wait_is_not_lost() -> None:
    """It is kept from the moment of interest on."""
    wakes = Wakes()
    with wakes.interest(A) as interest:
        wakes.on_wake(A)

        await interest.wait(_EVER_S)


async def test_a_resources_wake_up_reaches_all_its_waiters_and_no_others() -> None:
    """A waiter of another resource goes on waiting."""
    wakes = Wakes()
    with wakes.interest(A) as one, wakes.interest(A) as two, wakes.interest(B) as other:
        wakes.on_wake(A)

        await one.wait(_EVER_S)
        await two.wait(_EVER_S)
        assert not other._woken.is_set()


async def test_where_wake_ups_may_have_been_lost_everybody_looks_again() -> None:
    """The store's subscription broke: all are woken."""
    wakes = Wakes()
    with wakes.interest(A) as one, wakes.interest(B) as other:
        wakes.on_wake(None)

        await one.wait(_EVER_S)
        await other.wait(_EVER_S)


async def test_a_wait_ends_without_a_wake_up() -> None:
    """A time that has passed, or a negative one, is no wait at all; what was forgotten does not count."""
    wakes = Wakes()
    with wakes.interest(A) as interest:
        wakes.on_wake(A)
        interest.forget()

        await interest.wait(0)
        await interest.wait(-1)
        assert not interest._woken.is_set()


def test_no_interest_is_kept_after_its_end() -> None:
    """A wake-up for a resource that nobody waits for is dropped."""
    wakes = Wakes()
    with wakes.interest(A), wakes.interest(A):
        pass

    wakes.on_wake(A)
    assert wakes._interests == {}


@pytest.mark.parametrize(
    ("woken", "wakes_at_once"),
    [
        ((), False),
        ((A,), True),
        ((B,), False),
        ((B, A, B), True),
        ((None,), True),
        ((B,) * 1000, True),
    ],
    ids=["none", "its own", "another's", "its own among others", "all", "more than are remembered"],
)
async def test_interest_reaches_back_to_the_question(
    woken: tuple[ResourceKey | None, ...], wakes_at_once: bool
) -> None:
    """A wake-up that overtook the answer counts; one from before the question does not."""
    wakes = Wakes()
    wakes.on_wake(A)
    asked = wakes.heard
    for resource in woken:
        wakes.on_wake(resource)

    with wakes.interest(A, asked) as interest:
        assert interest.is_woken is wakes_at_once
