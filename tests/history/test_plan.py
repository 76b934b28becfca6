"""A run's plan is a function of its seed."""

import pytest

from tests.history.plan import LASTING, USUAL, Plan, draw


def test_a_seed_gives_one_plan() -> None:
    """The same again, and another one for another seed."""
    plan = draw(Plan(seed=5, seconds=60), USUAL)

    assert plan == draw(Plan(seed=5, seconds=60), USUAL)
    assert plan.faults != draw(Plan(seed=6, seconds=60), USUAL).faults


def test_a_plan_is_read_as_it_was_written() -> None:
    """What failed is run again from its file."""
    plan = draw(Plan(seed=5, seconds=60, gateways=3), USUAL)

    assert Plan.from_json(plan.to_json()) == plan


def test_faults_begin_while_the_load_runs_and_last_as_long_as_their_kind() -> None:
    """In order of time, none before the load or after it."""
    plan = draw(Plan(seed=5, seconds=120), USUAL)
    moments = [fault.at_s for fault in plan.faults]

    assert moments == sorted(moments)
    assert moments[0] > 0
    assert moments[-1] < 120
    assert all(LASTING[fault.kind][0] <= fault.lasts_s <= LASTING[fault.kind][1] for fault in plan.faults)


def test_each_kind_comes_before_any_comes_again() -> None:
    """A run that is long enough has all of them."""
    kinds = [fault.kind for fault in draw(Plan(seed=5, seconds=300), USUAL).faults]

    assert set(kinds[: len(USUAL)]) == set(USUAL)


def test_no_kinds_no_faults() -> None:
    """The load alone is a run too."""
    assert draw(Plan(seed=5, seconds=60), ()).faults == ()


def test_an_unknown_kind_is_refused() -> None:
    """And those that there are are named."""
    with pytest.raises(ValueError, match=r"no nemesis does boil-ocean; there are .*kill-store"):
        draw(Plan(seed=5, seconds=60), ("boil-ocean",))
