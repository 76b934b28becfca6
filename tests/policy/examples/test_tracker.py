"""tracker.yaml: what is changed stands in the body, as one kind and one id."""

import json

import pytest

from gateway.policy.ruleset import RuleSet
from tests.policy.examples.shipped import shipped, told


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return shipped(tmp_path_factory.mktemp("tracker"), "tracker")


def issue(value: object, **more: object) -> dict[str, object]:
    return {"kind": "issue", "issue": value} | more


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        *((issue({"id": id}), "forwarded") for id in (7, "7")),
        (issue({"id": "7"}, board="x"), "forwarded"),
        ({"kind": "board", "board": "x", "issue": {"id": "7"}}, "forwarded"),
        *((issue({"id": "7"}, kind=kind), "ambiguous-target") for kind in (["issue"], "Issue", "issue ", {"issue": 1})),
        *((issue({"id": "7"}, **{name: "8"}), "ambiguous-target") for name in ("issue.id", "Kind", "issue[id]")),
        (issue({"id": "7", "ID": "8"}), "ambiguous-target"),
        *((issue({"id": id}), "resource-unresolved") for id in (7.0, None, True, ["7"], {"id": "7"})),
        *((issue(value), "resource-unresolved") for value in ([{"id": "7"}], None, [])),
    ],
    ids=json.dumps,
)
def test_a_change_is_of_one_kind_and_one_id(ruleset: RuleSet, body: dict[str, object], decision: str) -> None:
    """Nothing that another reader could take for either stands beside it."""
    assert told(ruleset, "POST", "/tracker/changes", body=body) == decision
