"""An action that is closed beside a rule that takes any: no spelling of it is another action, nor a read of its own."""

import pytest

from gateway.core.caller import NOBODY
from gateway.core.target import Target, read_target
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
mount: {{path: /api, format_endings: {endings}}}
closed:
  - {{match: "POST /api/docs/{{id}}/publish"}}
  - {{match: "GET /api/internal/{{rest...}}"}}
  - {{match: "GET /api/docs/purge"}}
  - {{match: POST /api/trpc/doc.purge}}
writes:
  - {{name: act, match: "POST /api/docs/{{id}}/{{action}}", resource: "doc/{{path.id}}", values: integer}}
  - {{name: call, match: "POST /api/trpc/{{procedure}}", resource: docs}}
"""


@pytest.fixture(scope="module", params=["opaque", "refuse"])
def ruleset(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    """Frozen, and the same for all: whatever the mount says of endings."""
    return rules(tmp_path_factory.mktemp("spellings"), HEAD + POLICY.format(endings=request.param))


def found(ruleset: RuleSet, method: str, target: str) -> str:
    """What is refused before any policy is looked at is ambiguous too."""
    if not isinstance(read_target(target), Target):
        return "ambiguous-target"
    return name_of(ruleset.match(request(method, target), NOBODY))


@pytest.mark.parametrize("action", ["publish", "%70ublish", "p%75blis%68"])
def test_the_action_itself_is_closed(ruleset: RuleSet, action: str) -> None:
    """In escapes, too, which any server undoes."""
    assert found(ruleset, "POST", f"/api/docs/7/{action}") == "no-policy"


@pytest.mark.parametrize(
    "action",
    [
        *("Publish", "PUBLISH", "publ%C4%B1sh", "publi%C5%BFh", "pub-lish", "pub_lish", "pub%20lish", "pub+lish"),
        *("publish%20", "%20publish", "publish%C2%A0", "publish%E2%80%8B", "publish%00", "publish%09"),
        *("publish%2C", "publish%5F", "publish~", "publish*", "(publish)", "publish-", "publish."),
        *("publish&x=1", "publish%26x=1", "publish%3Fx", "publish%23", "publish%2Fx", "publish;v=1", "publish%3Bv=1"),
        *("%2570ublish", "%252570ublish"),
    ],
)
def test_no_spelling_of_it_is_another_action(ruleset: RuleSet, action: str) -> None:
    """Each is `publish` to some server, or behind some proxy."""
    assert found(ruleset, "POST", f"/api/docs/7/{action}") == "ambiguous-target"


@pytest.mark.parametrize("action", ["archive", "publishing", "republish", "pub"])
def test_another_action_is_its_rules(ruleset: RuleSet, action: str) -> None:
    """What is open stays so."""
    assert found(ruleset, "POST", f"/api/docs/7/{action}") == "act"


@pytest.mark.parametrize(
    ("target", "told"),
    [
        ("/api/internal/x", "reads-denied"),
        ("/api/intern%61l/x/y", "reads-denied"),
        ("/api/Internal/x", "ambiguous-target"),
        ("/api/in%20ternal/x", "ambiguous-target"),
        ("/api/internal%2Fx", "ambiguous-target"),
        ("/api/internal%252Fx", "ambiguous-target"),
        ("/api/internal;v=1/x", "ambiguous-target"),
        ("/api/internal%3Bv=1/x", "ambiguous-target"),
        ("/api/x/../internal/x", "ambiguous-target"),
        ("/api/x/..%2Finternal/x", "ambiguous-target"),
        ("/API/internal/x", "no-upstream"),
        ("/api%2Finternal/x", "no-upstream"),
        ("/api/internals/x", "read"),
        ("/api/x/internal/x", "read"),
    ],
)
def test_what_lies_below_a_closed_path_is_not_read(ruleset: RuleSet, target: str, told: str) -> None:
    """Nor by another spelling of the way to it, or of the mount, where nobody is."""
    assert found(ruleset, "GET", target) == told


@pytest.mark.parametrize(
    "name",
    [
        *("purge.", "purge%2e", "purge.json", "purge.json/", "purge%3f", "purge%3Fx", "purge%20", "purge%09"),
        *("purge%C2%A0", "pu%C2%ADrge", "purge%EF%BB%BF", "purge:", "purge$", "Purge", "pur%20ge", "%2570urge"),
    ],
)
def test_a_closed_read_is_closed_in_every_spelling(ruleset: RuleSet, name: str) -> None:
    """With the ending of a format, blanks, what nobody sees, or a mark behind it."""
    assert found(ruleset, "GET", f"/api/docs/{name}") == "ambiguous-target"
    assert found(ruleset, "GET", "/api/docs/purge") == "reads-denied"


@pytest.mark.parametrize("procedure", ["doc.purge,", "doc.purge,?batch=1", "doc.purge%2C?batch=1", "doc%2Epurge%2C"])
def test_a_list_of_one_procedure_is_that_procedure(ruleset: RuleSet, procedure: str) -> None:
    """tRPC calls each of a list of them."""
    assert found(ruleset, "POST", f"/api/trpc/{procedure}") == "ambiguous-target"
    assert found(ruleset, "POST", "/api/trpc/doc.purge") == "no-policy"
