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


WORDS = """\
closed:
  - match:
      - GET,PUT /x/publish_all
      - GET,PUT /x/secretkey
      - GET,PUT /x/stra%C3%9Fe
      - GET,PUT /x/true
      - GET,PUT /x/3
      - GET,PUT /x/0.5
      - GET,PUT /x/2026-01-05
      - GET,PUT /x/3f2504e0-4f89-41d3-9a0c-0305e82c3301
      - GET,PUT /x/10.0.0.1
      - GET,PUT /x/::1
      - GET,PUT /n/3/run
      - GET,PUT /k/3
writes:
  - {name: run, match: "PUT /n/{id}/run", resource: "n/{path.id}", values: any}
  - {name: number, match: "PUT /k/{id}", resource: "k/{path.id}", values: integer}
  - {name: any, match: "PUT /x/{id}", resource: "x/{path.id}", values: any}
"""
# The first of each is the closed one.
SPELLED = [
    *("publish_all", "publish-all", "publish.all", "publish~all", "publish%2Eall", "publishAll", "publish..all"),
    *("publish.~all", "publish_all.", ".publish_all", "publish:all", "publish%3Aall", "publish,all", "publish@all"),
    *("publish'all", "publish!all", "publish(all", "publish*all", "publish=all", "publish$all", "publish%20all"),
    *("publish%255Fall", "publish_all%E2%A0%80", "%E2%A0%80publish_all"),
    *("secretkey", "%C5%BFecretkey", "secret%E2%84%AAey", "%EF%BD%93ecretkey", "s%C3%A9cretkey", "secretkey%CC%81"),
    *("se%C2%ADcretkey", "%F0%9D%90%ACecretkey", "%E2%93%A2ecretkey", "SECRETKEY"),
    *("stra%C3%9Fe", "strasse", "STRASSE", "stra%E1%BA%9Ee", "STRA%C3%9FE"),
    *("true", "TRUE", "1", "yes", "on", "%22true%22"),
    *("3", "03", "0_3", "3.0", "3e0", "3,", "0b11", "0o3", "0x3.0", "%203", "%D9%A3", "%EF%BC%93"),
    *("3.00000000000000000001", "2.99999999999999999999"),
    *("0.5", ".5", "00.5", "0.50", "5e-1", "0.05e1", "%2B0.5", "%200.5", "0.5%20", "%C2%A00.5", "%E2%80%830.5"),
    *("0_0.5", "0x1p-1", "+0.5", "0.5_0", "%D9%A0.5"),
    *("2026-01-05", "20260105", "02026-01-05", "+2026-01-05", "%2B2026-01-05", "%D9%A2026-01-05"),
    *("3f2504e0-4f89-41d3-9a0c-0305e82c3301", "3F2504E0-4F89-41D3-9A0C-0305E82C3301"),
    *("3f2504e04f8941d39a0c0305e82c3301", "urn:uuid:3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
    "%7B3f2504e0-4f89-41d3-9a0c-0305e82c3301%7D",
    *("10.0.0.1", "010.0.0.1", "10.0.0.01", "10.00.000.0001", "010.00.00.01"),
    *("::1", "0::1", "::0001", "0:0:0:0:0:0:0:1", "::0.0.0.1"),
]
CLOSED = {
    *("publish_all", "secretkey", "stra%C3%9Fe", "true", "3", "0.5", "2026-01-05", "10.0.0.1", "::1"),
    "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
}


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("words"), HEAD + WORDS)


@pytest.mark.parametrize("segment", SPELLED)
def test_a_closed_segment_is_closed_in_every_spelling(words: RuleSet, segment: str) -> None:
    """Words, numbers, truths, days and addresses; of reads and of writes, which `values` hold to nothing here."""
    told = ("reads-denied", "no-policy") if segment in CLOSED else ("ambiguous-target", "ambiguous-target")

    assert (found(words, "GET", f"/x/{segment}"), found(words, "PUT", f"/x/{segment}")) == told


@pytest.mark.parametrize(
    "segment",
    [
        *("publish", "publish_all_2", "secret", "stra%C3%9Fen", "%EF%AC%81", "truth", "null", "4", "3n", "0.6", "inf"),
        *("2026-01-06", "10.0.0.2", "10.0.0.10", "10.0.1", "167772161", "::2"),
    ],
)
def test_a_segment_that_no_server_takes_for_it_passes(words: RuleSet, segment: str) -> None:
    """Else the others would show nothing. An address as one number is refused by those that read addresses."""
    assert (found(words, "GET", f"/x/{segment}"), found(words, "PUT", f"/x/{segment}")) == ("read", "any")


@pytest.mark.parametrize(
    "number",
    [
        *("03", "3.0", "0_3", "%D9%A3", "3,", "%203", "3_", "+3", "%2B3", "3e0", "30e-1", "-0003", "0003", "0x3"),
        *("%EF%BC%93", "3%20", "3.", "3%C2%A0"),
    ],
)
def test_so_is_one_in_the_middle_or_among_integers(words: RuleSet, number: str) -> None:
    """Whatever form the rule beside it wants."""
    targets = (f"/n/{number}/run", f"/k/{number}")

    assert {found(words, method, target) for method in ("GET", "PUT") for target in targets} == {"ambiguous-target"}
    assert [found(words, "GET", target) for target in ("/n/%33/run", "/k/%33")] == ["reads-denied"] * 2
    assert [found(words, "PUT", target) for target in ("/n/%33/run", "/k/%33", "/n/4/run", "/k/4")] == [
        *("no-policy", "no-policy", "run", "number")
    ]
