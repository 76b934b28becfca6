"""Rights go by a resource's whole name: no value within it leads out of what a glob covers."""

import pytest

from gateway.core.caller import Caller
from gateway.core.glob import parse_glob
from gateway.core.rights import Rights
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

RULES = f"""{HEAD}mount: {{path: /d, encoded_slash: opaque}}
writes:
  - {{name: put, match: "PUT /d/{{id}}", resource: "doc/{{path.id}}"}}
  - {{name: post, match: POST /d, resource: "doc/{{json:/id}}"}}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Frozen, and the same for all."""
    return rules(tmp_path_factory.mktemp("rights"), RULES)


@pytest.fixture(scope="module")
def eve() -> Caller:
    """She may write every document whose id begins with a 1."""
    glob = parse_glob("doc/1*")
    assert glob is not None
    return Caller("eve", rights=Rights((glob,)))


@pytest.mark.parametrize(
    ("id", "resource"),
    [("1", "doc/1"), ("10", "doc/10"), ("1/2", "doc/1%2F2"), ("2", None), ("2/../1", None), ("\uff11", None)],
    ids=ascii,
)
def test_an_id_in_a_body_is_one_segment_as_it_is_spelled(
    ruleset: RuleSet, eve: Caller, id: str, resource: str | None
) -> None:
    """A slash in it parts nothing, dots lead nowhere, and another script's digit is no 1."""
    said = answer(ruleset, request("POST", "/d", body=f'{{"id": "{id}"}}'), eve)

    assert said.decision == ("forwarded" if resource else "forbidden")
    assert resource is None or said.resource == resource


def test_an_encoded_slash_in_a_path_is_the_same_segment(ruleset: RuleSet, eve: Caller) -> None:
    """Where the mount lets one pass."""
    told = [answer(ruleset, request("PUT", f"/d/{id}"), eve) for id in ("1%2F2", "2%2F1")]

    assert [one.decision for one in told] == ["forwarded", "forbidden"]
    assert told[0].resource == "doc/1%2F2"
