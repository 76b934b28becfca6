"""DELETE requests that a `read_only` entry takes, because their path or query says that nothing is deleted."""

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
read_only:
  - {match: ["DELETE /pods/{pod}", "POST /pods"], when: {query: {dryRun: All}}}
  - match: DELETE /tries/{try}
  - {match: "DELETE /jobs/{job}", when: {json: {/dry: true}}}
writes:
  - {name: pod, match: "DELETE /pods/{pod}", resource: "pod/{path.pod}"}
  - {name: job, match: "DELETE /jobs/{job}", resource: "job/{path.job}"}
"""
JSON = ("Content-Type", "application/json")


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("deletions"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("asked", "fields", "body", "found"),
    [
        ("DELETE /pods/a?dryRun=All", (), None, "read"),
        ("DELETE /pods/a?dryRun=All", (JSON,), "", "read"),
        ("DELETE /pods/a?dryRun=All", (JSON, ("Content-Length", "0")), None, "read"),
        ("DELETE /pods/a?dryRun=All", (), "", "read"),
        ("DELETE /pods/a?dryRun=All", (JSON, ("Content-Length", "2")), None, "needs body"),
        ("DELETE /pods/a?dryRun=All", (), "{}", "ambiguous-target"),
        ("DELETE /pods/a?dryRun=All", (), '{"dryRun": ["All"]}', "ambiguous-target"),
        ("DELETE /tries/a", (JSON,), None, "read"),
        ("DELETE /tries/a", (("Content-Length", "2"),), None, "ambiguous-target"),
        ("DELETE /tries/a", (("Transfer-Encoding", "chunked"),), None, "ambiguous-target"),
        ("DELETE /pods/a", (), "{}", "pod"),
        ("POST /pods?dryRun=All", (), '{"kind": "Pod"}', "read"),
        ("DELETE /jobs/a", (), '{"dry": true}', "read"),
        ("DELETE /jobs/a", (), '{"dry": false}', "job"),
    ],
)
def test_a_body_takes_the_place_of_what_was_judged(
    ruleset: RuleSet, asked: str, fields: tuple[tuple[str, str], ...], body: str | None, found: str
) -> None:
    """Kubernetes reads a DELETE's options from its body, and then no query. An entry that looks at the body itself has
    judged what is read."""
    method, target = asked.split(" ")

    assert name_of(ruleset.match(request(method, target, *fields, body=body), NOBODY)) == found
