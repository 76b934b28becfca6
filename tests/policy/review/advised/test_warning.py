"""A warning, and where it stands."""

from pathlib import Path

from gateway.policy.review.advised.warning import and_others, first_of_each, upstream_warning, warning
from tests.policy.asking import one_rule, rules


def test_a_warning_stands_at_its_rule(tmp_path: Path) -> None:
    """Also where it is of the whole upstream."""
    [(entry, others)] = first_of_each(rules(tmp_path, one_rule()).entries, lambda _: True)

    assert str(warning(entry, "is odd")) == f"{tmp_path}/policy0.yaml:4:5: rule `one` is odd"
    assert str(upstream_warning(entry, "is odd")) == f"{tmp_path}/policy0.yaml:4:5: upstream `api` is odd"
    assert [and_others(count) for count in (others, 1, 2)] == [
        "",
        "(and 1 other of its upstream) ",
        "(and 2 others of its upstream) ",
    ]
