"""The search finds the nearest violation, and ends where it is told to."""

from tests.model.explore.gateway import Gateways
from tests.model.explore.moves import Moves
from tests.model.explore.search import explore
from tests.model.explore.world import Bounds
from tests.model.explore.writes import Conduct

BOUNDS = Bounds(holders=1, gateways=1, keyed=1, plain=0, ticks=0)


def test_what_is_broken_is_told_by_the_shortest_way(gateways: Gateways) -> None:
    """In words, one a step."""
    violation = explore(Moves(gateways, BOUNDS, Conduct(silence_is="not_applied"))).violation

    assert violation is not None
    assert str(violation).splitlines()[-4:] == [
        "  1  gateway 1 grants A a lease",
        "  2  A's intent comes to gateway 1: admitted",
        "  3  the first bytes of A's intent leave",
        "  4  the connection of A's intent breaks: not_applied",
    ]


def test_a_search_ends_where_nothing_is_new(gateways: Gateways) -> None:
    """The same world has as many states each time."""
    first, second = (explore(Moves(gateways, BOUNDS)) for _ in range(2))

    assert first.is_whole
    assert first.violation is None
    assert (first.states, first.transitions) == (second.states, second.transitions)


def test_a_search_ends_at_a_depth_or_a_number_of_states(gateways: Gateways) -> None:
    """It says that there is more."""
    shallow, small = explore(Moves(gateways, BOUNDS), depth=2), explore(Moves(gateways, BOUNDS), most=3)

    assert (shallow.depth, shallow.is_whole) == (2, False)
    assert not small.is_whole
