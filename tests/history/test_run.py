"""A whole run, short: everything is disturbed, and every promise holds."""

from pathlib import Path

import pytest

from tests.history.plan import Plan, Topology, draw, usual
from tests.history.run import run
from tests.history.stage import Ground


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("topology", "durability"),
    [("alone", "process"), ("sentinel", "process"), ("sentinel", "replica:1")],
    ids=["one server", "servers that may lose what they acknowledged", "servers that may not"],
)
async def test_twenty_seconds_under_faults_break_no_promise(
    tmp_path: Path, topology: Topology, durability: str
) -> None:
    """Writes go through, faults happen, and the checker finds nothing."""
    plan = Plan(seed=20, seconds=20.0, topology=topology, durability=durability)
    plan = draw(plan, usual(plan))

    verdict = await run(plan, Ground(tmp_path / "run"))

    assert [str(violation) for violation in verdict.violations] == []
    assert verdict.complaints == ""
    assert sum(verdict.figures.faults.values()) == len(plan.faults)
    assert verdict.figures.executed > 0
