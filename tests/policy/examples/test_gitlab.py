"""gitlab.yaml: nobody acts as another user, in whatever a form or JSON has that GitLab could take for `sudo`."""

import json

import pytest

from gateway.policy.ruleset import RuleSet
from tests.policy.examples.shipped import FORM, shipped, told

ISSUE = "/gitlab/api/v4/projects/7/issues/1"


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return shipped(tmp_path_factory.mktemp("gitlab"), "gitlab")


@pytest.mark.parametrize(
    ("more", "decision"),
    [
        # The route's own names: GitLab takes the path's.
        *((more, "forwarded") for more in ("issue_iid=2", "id=8", "pseudo=x")),
        *(
            (more, "ambiguous-target")
            for more in ("sudo=r", "sudo", "sudo[]=r", "sudo%5Bx%5D=r", "%73udo=r", "Sudo=r", "+sudo=r")
        ),
        *((more, "ambiguous-target") for more in ("sudo%00=r", "sudo%00x=r", "x;sudo=r", "_method=delete")),
    ],
)
def test_no_form_acts_as_another_user(ruleset: RuleSet, more: str, decision: str) -> None:
    """At its beginning and behind something else."""
    for body in (f"{more}&title=a", f"title=a&{more}"):
        assert told(ruleset, "PUT", ISSUE, FORM, body=body) == decision


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        *((body, "forwarded") for body in ({"id": 8}, {"issue_iid": 2}, {"a": {"sudo": 1}})),
        *(({"sudo": value}, "no-policy") for value in ("x", None, 1, [])),
        *(({name: 1}, "ambiguous-target") for name in ("Sudo", "su\0do", "sudo ", "su_do")),
        ({"title": "a&sudo=1"}, "ambiguous-target"),
    ],
    ids=json.dumps,
)
def test_nor_does_json(ruleset: RuleSet, body: dict[str, object], decision: str) -> None:
    """A text with an ampersand in it is a form to some."""
    assert told(ruleset, "PUT", ISSUE, body=body) == decision
