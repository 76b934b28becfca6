"""A run's plan is a function of its seed."""

import dataclasses
from itertools import pairwise

import pytest

from tests.history.plan import FAILING_OVER, LASTING, Plan, draw, usual

USUAL = usual(Plan(seed=5, seconds=60))
GUARDED = Plan(seed=5, seconds=300, topology="sentinel")


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


@pytest.mark.parametrize(
    ("plan", "kind"),
    [
        (GUARDED, "black-hole-store"),
        (GUARDED, "kill-store"),
        (Plan(seed=5, seconds=60), "fail-over"),
    ],
    ids=["wires to servers behind sentinels", "one server behind sentinels", "a failover of one server"],
)
def test_what_a_store_cannot_suffer_is_refused(plan: Plan, kind: str) -> None:
    """And the topology that can is named; what is usual can be suffered."""
    with pytest.raises(ValueError, match=f"{kind} needs --topology (sentinel|alone)"):
        draw(plan, (kind,))
    assert kind not in usual(plan)
    assert draw(plan, usual(plan)).faults


def test_one_server_has_no_replicas_to_wait_for() -> None:
    """Such a run would admit nothing."""
    with pytest.raises(ValueError, match="replica:1 needs --topology sentinel"):
        draw(Plan(seed=5, seconds=60, durability="replica:1"), ())


def test_who_knows_of_a_loss_lives_to_tell() -> None:
    """Where a failover may lose what was acknowledged, nobody kills or stops whoever remembers it."""
    durable = dataclasses.replace(GUARDED, durability="replica:1")

    assert GUARDED.may_lose and not durable.may_lose
    assert set(usual(durable)) - set(usual(GUARDED)) == {"stop-workers", "kill-worker", "kill-gateway"}


def test_servers_get_into_step_between_failovers() -> None:
    """The next one begins once the one before is healed, and some seconds later; other faults overlap."""
    faults = draw(GUARDED, usual(GUARDED)).faults
    failovers = [fault for fault in faults if fault.kind in FAILING_OVER]

    assert [fault.at_s for fault in faults] == sorted(fault.at_s for fault in faults)
    assert {fault.kind for fault in failovers} == set(FAILING_OVER)
    assert all(b.at_s - a.at_s - a.lasts_s > 5 for a, b in pairwise(failovers))
    assert faults[-1].at_s < 300
