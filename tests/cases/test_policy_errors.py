"""Golden cases: each `.case` is a policy, ten dashes, and what `fencegate check` says of it.

A line `== NAME` begins a second file beside `policy.yaml`. Findings of `policy.yaml` stand without their file's name.
"""

import re
from pathlib import Path

import pytest

from gateway.policy.load import load_policies

CASES = sorted(Path(__file__).parent.glob("*.case"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_bad_policy_is_refused_with_the_place_of_each_fault(case: Path, tmp_path: Path) -> None:
    """Every fault of a file is shown as `file:line:column: message`, in the order of the file."""
    files, _, expected = case.read_text().partition("----------\n")
    name = "policy.yaml"
    for at, piece in enumerate(re.split(r"^== (\S+)\n", files, flags=re.MULTILINE)):
        if at % 2:
            name = piece
        else:
            (tmp_path / name).write_text(piece)

    findings = load_policies(tmp_path, {})

    assert isinstance(findings, tuple)
    shown = [str(finding).replace(f"{tmp_path}/", "").removeprefix("policy.yaml:") for finding in findings]
    assert shown == expected.splitlines()


def test_the_cases_are_found() -> None:
    """A moved directory does not turn the golden cases off."""
    assert len(CASES) >= 50
