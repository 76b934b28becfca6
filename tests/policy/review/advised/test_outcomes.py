"""Statuses that prove more than their policy most likely means."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.outcomes import proved_by_default, proved_too_much
from tests.policy.asking import HEAD, rules

RULE = '{name: one, match: "PUT /x/{id}", resource: "x/{path.id}"}'


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ("{}", None),
        ("{unknown: [202, 406, 408, 499, 5xx]}", None),
        ("{not_applied: [4xx, 503]}", None),
        ("{not_applied: [409]}", None),
        (
            "{unknown: [202]}",
            "takes 500, 501, 502 and others for proof that a write was applied, and 406, 408, 499 for proof that",
        ),
        ("{unknown: [502, 406, 408, 499]}", "takes 500, 501, 503 and others for proof that a write was applied;"),
        ("{unknown: [408, 499, 5xx]}", "takes 406 for proof that it was not, so that a repeat runs again"),
        ("{unknown: [5xx], not_applied: [409]}", "takes 406, 408, 499 for proof that it was applied"),
        (
            "{unknown: [499, 5xx], not_applied: [406]}",
            "takes 406 for proof that it was not, so that a repeat runs again, and 408 for proof that it was applied",
        ),
    ],
    ids=[
        "the default",
        "the default and more",
        "one that proves a no",
        "another list",
        "neither",
        "one of 5xx",
        "no 406",
        "both of no list",
        "one of no list",
    ],
)
def test_a_list_of_the_unknown_replaces_the_default(tmp_path: Path, outcomes: str, told: str | None) -> None:
    """What is left out of it proves something; told once, at the first rule."""
    policy = (
        f"{HEAD}outcomes: {outcomes}\nwrites:\n  - {RULE}\n  - {RULE.replace('one', 'two').replace('PUT', 'POST')}\n"
    )
    found = list(proved_too_much(rules(tmp_path, policy)))

    assert [(one.severity, one.line, told in one.message) for one in found if told] == (
        [("warning", 5, True)] if told else []
    )
    assert bool(found) is (told is not None)


@pytest.mark.parametrize(
    ("outcomes", "rule", "is_told"),
    [
        ("", "effect: {risk: high}, intent: {mode: required}", True),
        ("outcomes: {not_applied: [4xx]}\n", "effect: {risk: high}, intent: {mode: required}", False),
        ("outcomes: {unknown: [406, 408, 409, 499, 5xx]}\n", "effect: {risk: high}, intent: {mode: required}", False),
        ("", "intent: {mode: required}", False),
    ],
    ids=["nobody has said", "a refusal is one", "what proves nothing is said", "low risk"],
)
def test_what_must_not_happen_twice_wants_somebody_to_have_looked(
    tmp_path: Path, outcomes: str, rule: str, is_told: bool
) -> None:
    """By default any 4xx frees a key, and many APIs refuse once they have acted."""
    writes = f'writes:\n  - {{name: one, match: "PUT /x/{{id}}", resource: "x/{{path.id}}", {rule}}}\n'
    compiled = rules(tmp_path, f"{HEAD}{outcomes}{writes}")
    found = list(proved_by_default(compiled))

    assert bool(found) is is_told
    assert all("rule `one` is `risk: high`, and by default any 4xx frees its key" in one.message for one in found)
