"""`fencegate policies` against a running gateway."""

import pytest

from gateway.policy.finding import Finding
from tests.admin.conftest import Admin
from tests.cli.operating import operate


@pytest.mark.slow
async def test_a_rule_in_force_is_a_line(admin: Admin) -> None:
    """With its upstream."""
    shown = await operate(admin.port, "policies")

    head, line = shown.out.splitlines()
    assert head.split() == ["UPSTREAM", "URL", "RULE", "RESOURCE", "MODE"]
    assert line.split() == ["reports", "http://localhost:9", "write", "report/{path.id}", "enforce"]


@pytest.mark.slow
async def test_files_that_are_not_right_are_told(admin: Admin) -> None:
    """Where, and that the others stay in force."""
    admin.findings = (Finding("reports.yaml", 3, 7, "urll is no field"),)

    shown = await operate(admin.port, "policies", "reload")

    assert shown.status == 1
    assert shown.err.startswith("Error: reports.yaml:3:7: urll is no field\nThe policies in force stay as they were.")
