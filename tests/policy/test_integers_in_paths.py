"""One document under `values: integer` has one spelling, whatever else some server reads as its number."""

from pathlib import Path

import pytest

from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, rules
from tests.policy.examples.shipped import told

POLICY = f"""{HEAD}mount: {{path: /}}
closed:
  - {{match: "PUT /docs/7/day/2026-01-05"}}
writes:
  - {{name: write, match: "PUT /docs/{{id}}", resource: "doc/{{path.id}}", values: integer}}
  - name: day
    match: PUT /docs/{{id}}/day/{{day}}
    resource: day/{{path.id}}/{{path.day}}
    values: {{path.id: integer, path.day: date}}
  - name: named
    match: PUT /users/{{id}}
    resource: user/{{path.id}}
    values: unpadded
"""


@pytest.fixture
def ruleset(tmp_path: Path) -> RuleSet:
    return rules(tmp_path, POLICY)


@pytest.mark.parametrize(
    "target",
    [
        *(f"/docs/7{more}" for more in ("%00", "%0a", "%20", ";a", "%3b", "%2f", "%252f", "\\", ",8", "|8", "#/8")),
        *(f"/docs/7{more}" for more in ("?id=8", "?id%5b%5d=8", "?ID=8", "?_method=DELETE", ".0", ".json", "e0")),
        *(f"/docs/{id}" for id in ("07", "+7", "-7", "%2B7", "1_0", "0x7", "7%2E0", "9223372036854775808")),
        *(f"/docs/{id}" for id in ("%EF%BC%97", "%D9%A7", "%E2%81%B7", "7%CC%81", "7%E2%80%8B")),
        *("/docs//7", "/docs/./7", "//docs/7", "docs/7", "/docs/%2e/7", "/docs/8/../7"),
    ],
)
def test_an_integer_has_one_spelling_in_a_path(ruleset: RuleSet, target: str) -> None:
    """A second one would be a second resource of one document."""
    assert told(ruleset, "PUT", target) == "ambiguous-target"


@pytest.mark.parametrize("target", ["/docs/7", "/docs/7?", "/docs/0", "/docs/9223372036854775807"])
def test_plain_digits_are_forwarded(ruleset: RuleSet, target: str) -> None:
    assert told(ruleset, "PUT", target) == "forwarded"


@pytest.mark.parametrize(
    ("day", "decision"),
    [
        ("2026-01-06", "forwarded"),
        ("2026-01-05", "no-policy"),
        *(
            (day, "ambiguous-target")
            for day in ("2026-1-5", "20260105", "1767571200", "2026-01-05T00:00", "%2B2026-01-05", "02026-01-05")
        ),
        *((day, "ambiguous-target") for day in ("2026-01-05%20", "%D9%A2026-01-05", "2026-W02-1", "2026-005")),
    ],
)
def test_a_day_has_one_spelling_in_a_write(ruleset: RuleSet, day: str, decision: str) -> None:
    """Frameworks read a closed day in many more."""
    assert told(ruleset, "PUT", f"/docs/7/day/{day}") == decision


@pytest.mark.parametrize(
    ("id", "decision"),
    [
        *((id, "forwarded") for id in ("10", "me", "group")),
        *((id, "ambiguous-target") for id in ("1_0", "10.0", "010", "1e1", "0xA", "10.", "-0", "+10", "%D9%A10")),
    ],
)
def test_a_number_or_a_name_is_no_number_in_another_spelling(ruleset: RuleSet, id: str, decision: str) -> None:
    """What reads a text as a number where it can, and as a name where it cannot, finds one under several."""
    assert told(ruleset, "PUT", f"/users/{id}") == decision
