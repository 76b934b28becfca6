"""A condition on Content-Type compares the type alone, as all servers do who look at it."""

from pathlib import Path

import pytest

from gateway.core.caller import NOBODY
from gateway.core.decision import Refused
from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
closed: [{match: "PUT,GET /x/{id}", when: {header: {content-type: [application/json, text/xml]}}}]
read_only: [{match: POST /x, when: {header: {Content-Type: Application/SPARQL-Query}}}]
writes:
  - {name: put, match: "PUT /x/{id}", resource: "x/{path.id}"}
  - {name: post, match: POST /x, resource: x}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("types"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        *((f"application/json{more}", "no-policy") for more in ("", "; charset=utf-8", ";odata=verbose", "; a=b;c=d")),
        *(("text/xml;charset=iso-8859-1", "no-policy"), (' text/xml; action="urn:x#y"', "no-policy")),
        *((kind, "ambiguous-target") for kind in ("Application/JSON", "application/json;", "application/json ;a=b")),
        *((kind, "ambiguous-target") for kind in ("application/json, a/b", "a/b, text/xml", "application/json\t", "")),
        *((f"a/b; c={told}", "ambiguous-target") for told in ("x/json", "+JSON", '"application/json"')),
        *((kind, "put") for kind in ("text/plain", "application/json5", "application/x+json", "a/b; c=json")),
        ('multipart/related; boundary="a"; type="application/xop+xml"', "put"),
    ],
)
def test_what_follows_the_type_is_not_compared(ruleset: RuleSet, kind: str, told: str) -> None:
    """What is not spelled plainly, in lower case, is read in several ways; Laravel looks for JSON in all of it."""
    read = {"no-policy": "reads-denied", "put": "read"}.get(told, told)

    assert name_of(ruleset.match(request("PUT", "/x/7", ("Content-Type", kind), body="a"), NOBODY)) == told
    assert name_of(ruleset.match(request("GET", "/x/7", ("Content-Type", kind)), NOBODY)) == read


@pytest.mark.parametrize("more", [(), ("Content-Type", "content_type")])
def test_a_type_is_said_once(ruleset: RuleSet, more: tuple[str, ...]) -> None:
    """A second one is the type to some; none is no type."""
    found = ruleset.match(request("PUT", "/x/7", *((name, "a/b") for name in more)), NOBODY)

    assert name_of(found) == ("ambiguous-target" if more else "put")
    assert not isinstance(found, Refused) or found.detail.endswith(("once.", "dash."))


def test_a_policy_may_spell_it_in_any_case(ruleset: RuleSet) -> None:
    """It is compared in lower case."""
    query = request("POST", "/x", ("Content-Type", "application/sparql-query;charset=utf-8"), body="ASK {}")

    assert name_of(ruleset.match(query, NOBODY)) == "read"


@pytest.mark.parametrize("value", ["'application/json; charset=utf-8'", "application/*", "json", "'*/*'"])
def test_what_is_no_type_is_refused(tmp_path: Path, value: str) -> None:
    """It would never be met."""
    closed = f"closed: [{{match: GET /x, when: {{header: {{content-type: {value}}}}}}}]\nwrites: []\n"
    (tmp_path / "a.yaml").write_text(HEAD + closed)
    found = load_policies(tmp_path, {})

    assert not isinstance(found, RuleSet)
    assert ("`application/json`" if ";" in value else "without parameters") in found[0].message
