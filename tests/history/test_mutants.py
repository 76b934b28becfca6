"""The checker finds what it is there to find: each planted fault within one short run of its own."""

import dataclasses
from pathlib import Path

import pytest

from tests.history.child import ROOT
from tests.history.mutants import MUTANTS, SENT_LATE, Mutant, Unplantable, plant
from tests.history.run import run
from tests.history.stage import Ground


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_fault_can_be_planted(mutant: Mutant) -> None:
    """Each text that a mutant replaces is in the package, once."""
    for change in mutant.changes:
        assert change.planted(ROOT / "gateway") != (ROOT / "gateway" / change.file).read_text()


def test_a_fault_that_has_no_place_is_not_run(tmp_path: Path) -> None:
    """A mutant whose text is gone is an error, and not a run without a fault."""
    gone = dataclasses.replace(MUTANTS[0].changes[0], old="no such text")

    with pytest.raises(Unplantable):
        plant(dataclasses.replace(MUTANTS[0], changes=(gone,)), tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
async def test_a_planted_fault_is_found(mutant: Mutant, tmp_path: Path) -> None:
    """The scenario breaks one of the rules that the fault is known to break."""
    verdict = await run(mutant.plan, Ground(tmp_path / "run", plant(mutant, tmp_path)))

    broken = {violation.rule for violation in verdict.violations}
    assert any(rule.startswith(tuple(mutant.found_as)) for rule in broken), verdict.figures
    assert verdict.complaints == ""


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_the_hardest_scenario_without_its_fault_is_clean(tmp_path: Path) -> None:
    """What finds a planted fault finds nothing in the package as it is."""
    verdict = await run(SENT_LATE.plan, Ground(tmp_path / "run"))

    assert [str(violation) for violation in verdict.violations] == []
    assert verdict.figures.executed > 0
