"""A whole run, short: everything is disturbed, and every promise holds."""

from pathlib import Path

import pytest

from tests.history.plan import USUAL, Plan, draw
from tests.history.run import run
from tests.history.stage import Ground


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_twenty_seconds_under_faults_break_no_promise(tmp_path: Path) -> None:
    """Writes go through, faults happen, and the checker finds nothing."""
    plan = draw(Plan(seed=20, seconds=20.0), USUAL)

    verdict = await run(plan, Ground(tmp_path / "run"))

    assert [str(violation) for violation in verdict.violations] == []
    assert verdict.complaints == ""
    assert sum(verdict.figures.faults.values()) == len(plan.faults)
    assert verdict.figures.executed > 0
