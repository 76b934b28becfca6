"""How much of what agents may do can be taken back, by weight."""

from pathlib import Path

from gateway.policy.review.reversible import Coverage, reversible_coverage
from tests.policy.asking import rules

POLICY = """upstream: {name}
url: http://127.0.0.1:9000
mount: {{path: /{name}}}
defaults: {{intent: {{mode: optional}}}}
writes:
  - name: create
    match: POST /{name}
    resource: {name}
    effect: {{weight: 3, compensation: {{request: "DELETE /{name}/{{response.json:/id}}"}}}}
  - {{name: pay, match: "POST /{name}/pay", resource: {name}, effect: {{weight: {weight}}}}}
"""


def test_weights_are_added_up(tmp_path: Path) -> None:
    """Of the whole set, and of each upstream; a rule without a weight counts once."""
    found = rules(tmp_path, POLICY.format(name="a", weight=7), POLICY.format(name="b", weight=1))

    assert reversible_coverage(found) == (Coverage("", 6, 14), Coverage("a", 3, 10), Coverage("b", 3, 4))


def test_a_set_without_rules_has_no_weight(tmp_path: Path) -> None:
    """Nor has one whose rules all weigh nothing; neither is divided by."""
    empty = rules(tmp_path, "upstream: a\nurl: http://127.0.0.1:9000\n")

    assert list(map(str, reversible_coverage(empty))) == ["0 of 0"]
    assert str(Coverage("a", 1, 3)) == "1 of 3 (33%)"
