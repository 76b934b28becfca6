"""Each promise can be broken: a fault that is planted into the scripts, or into what a gateway does, is found."""

import pytest

from tests.model.explore.faults import FAULTS, Fault
from tests.model.explore.run import run_with


@pytest.mark.parametrize("fault", FAULTS, ids=[fault.name for fault in FAULTS])
def test_the_fault_is_found(fault: Fault, store_url: str) -> None:
    """And told by the shortest way to it."""
    violation = run_with(store_url, fault).violation

    assert violation is not None
    assert violation.broken[0].startswith(fault.breaks), str(violation)
    assert len(violation.trace) <= 12


def test_every_promise_can_be_broken() -> None:
    """A gateway in doubt (G6) and one that was stopped (G7) have stories of their own."""
    assert {fault.breaks for fault in FAULTS} == {"G1", "G2", "G3", "G4", "G5"}
