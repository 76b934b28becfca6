"""What a figure says of the values that were measured."""

import pytest

from tests.bench.figure import Figure, Goal, at_least, at_most, percentile


def test_a_ratio_is_the_median_of_pairs() -> None:
    """A round in which the machine was slow counts as one round, whatever it did to the values."""
    figure = Figure("writes", "writes/s", at_least(1.0)).compared([100, 10, 90], [100, 20, 60])

    assert (figure.ours, figure.beside, figure.ratio) == (90, 60, 1.0)
    assert figure.is_met


@pytest.mark.parametrize(
    ("goal", "value", "is_met"),
    [
        pytest.param(at_least(1.1), 1.1, True, id="the least itself"),
        pytest.param(at_least(1.1), 1.0, False, id="below the least"),
        pytest.param(at_most(200), 200, True, id="the most itself"),
        pytest.param(at_most(200), 201, False, id="above the most"),
    ],
)
def test_a_goal_is_met_up_to_its_bound(goal: Goal, value: float, is_met: bool) -> None:
    """Where nothing is compared, the value itself is judged."""
    assert Figure("room", "bytes", goal).of([value]).is_met is is_met


def test_without_a_goal_nothing_is_judged() -> None:
    """Most rows only explain another one."""
    assert Figure("CPU", "µs").of([1.0]).is_met is None


@pytest.mark.parametrize(("percent", "value"), [(0, 1), (50, 50), (99, 99), (100, 100)])
def test_a_percentile_is_a_value_that_was_measured(percent: float, value: float) -> None:
    """Nothing is put between two of them."""
    assert percentile([float(number) for number in range(100, 0, -1)], percent) == value


def test_of_nothing_there_is_no_percentile() -> None:
    """A load that measured nothing is no fast one."""
    with pytest.raises(ValueError, match="nothing was measured"):
        percentile([], 99)
