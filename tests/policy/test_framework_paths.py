"""Paths that some framework takes for those of another rule: they are nobody's, or refused."""

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

RULES = f"""{HEAD}writes:
  - {{name: doc, match: "PUT,POST /docs/{{id}}", resource: "doc/{{path.id}}"}}
  - {{name: publish, match: POST /docs/publish, resource: docs}}
  - {{name: update, match: POST /trpc/post.update, resource: "post/{{json:/id}}"}}
"""
BATCH = '{"id": "7", "0": {"id": "7"}, "1": {"id": "8"}}'


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Frozen, and the same for all."""
    return rules(tmp_path_factory.mktemp("framework-paths"), RULES)


@pytest.mark.parametrize(
    ("method", "target", "body", "decision"),
    [
        ("PUT", "/docs/7", None, "forwarded"),
        ("PUT", "/index.php/docs/7", None, "no-policy"),
        ("POST", "/index.php/docs/publish", None, "no-policy"),
        ("POST", "/docs/publish", None, "forwarded"),
        ("POST", "/docs/publi%C5%BFh", None, "ambiguous-target"),
        ("POST", "/?/docs/publish", None, "ambiguous-target"),
        ("GET", "/?/docs/publish", None, "ambiguous-target"),
        ("GET", "/?%2Fdocs/publish", None, "ambiguous-target"),
        ("GET", "/?&/docs/publish", None, "ambiguous-target"),
        ("GET", "/index.php?/docs/publish", None, "ambiguous-target"),
        ("GET", "/api/INDEX.php/?/docs/publish", None, "ambiguous-target"),
        ("GET", "/app.php?/docs/publish", None, "ambiguous-target"),
        ("GET", "/index.php%3F/docs/publish", None, "ambiguous-target"),
        ("GET", "/do/(S(x))cs/publish", None, "ambiguous-target"),
        ("POST", "/do/(S(x))cs/publish", None, "ambiguous-target"),
        ("GET", "/?q=/docs", None, "passed"),
        ("GET", "/docs?/publish", None, "passed"),
        ("POST", "/trpc/post.update", '{"id": "7"}', "forwarded"),
        ("POST", "/trpc/post.update,post.remove?batch=1", BATCH, "no-policy"),
        ("POST", "/trpc/post.update%2Cpost.remove?batch=1", BATCH, "no-policy"),
    ],
)
def test_a_path_that_a_framework_reads_as_anothers_is_not_that_one(
    ruleset: RuleSet, method: str, target: str, body: str | None, decision: str
) -> None:
    """Symfony and Laravel drop the front controller's name, servers that tell no case fold a long s, CodeIgniter takes
    its path from a query that begins with a slash, tRPC calls every procedure of a list."""
    assert answer(ruleset, request(method, target, body=body), NOBODY).decision == decision
