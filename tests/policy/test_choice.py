"""Many entries of one path are found by the value in which they differ, as one by one."""

import json
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import NO_POLICY, Refused
from gateway.core.request import Request
from gateway.policy.match import Matched, NeedsBody, Read
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

CALLER = Caller()
FORM = ("Content-Type", "application/x-www-form-urlencoded")
MANY = 50
NUMBERS = range(MANY)


def many(when: str, more: str = "") -> str:
    """Rules of one path, whose conditions differ in N."""
    lines = [f"  - {{name: n{n}, match: POST /x, resource: r, when: {when.replace('N', str(n))}}}\n" for n in NUMBERS]
    return f"{HEAD}writes:\n{''.join(lines)}{more}"


def graphql(document: str) -> Request:
    return request("POST", "/x", body=json.dumps({"query": document}))


def taken(ruleset: RuleSet, asked: Request) -> str:
    match ruleset.match(asked, CALLER):
        case Matched(entry):
            return entry.rule.name
        case Refused(decision):
            return decision.name
        case Read():
            return "read"
        case NeedsBody():
            return "body"


@pytest.mark.parametrize(
    ("when", "asked", "name"),
    [
        ("{json: {/method: mN}}", request("POST", "/x", body='{"method": "m49"}'), "n49"),
        ("{json: {/method: mN}}", request("POST", "/x", body='{"method": "m50"}'), "no-policy"),
        ("{json: {/method: mN}}", request("POST", "/x", body='{"method": ["m1"]}'), "no-policy"),
        ("{json: {/method: mN}}", request("POST", "/x", body='{"method": "m1", "METHOD": "m2"}'), "ambiguous-target"),
        ("{json: {/method: mN}}", request("POST", "/x"), "body"),
        ("{json: {/method: call, /name: tN}}", request("POST", "/x", body='{"method": "call", "name": "t3"}'), "n3"),
        (
            "{json: {/method: call, /name: tN}}",
            request("POST", "/x", body='{"method": "x", "name": "t3"}'),
            "no-policy",
        ),
        ("{json: {/k: [aN, bN]}}", request("POST", "/x", body='{"k": "b7"}'), "n7"),
        ("{header: {kind: kN}}", request("POST", "/x", ("Kind", "k9")), "n9"),
        ("{query: {kind: kN}}", request("POST", "/x?kind=k9"), "n9"),
        ("{query: {kind: kN}}", request("POST", "/x?kind=k9&kind=k8"), "ambiguous-target"),
        ("{header: {kind: kN}, json: {/a: 1}}", request("POST", "/x", ("Kind", "k9"), body='{"a": 1}'), "n9"),
        ("{header: {kind: kN}, json: {/a: 1}}", request("POST", "/x", ("Kind", "k9")), "body"),
        ("{header: {kind: kN}, json: {/a: 1}}", request("POST", "/x", ("Kind", "other")), "no-policy"),
        ("{header: {all: a}, json: {/a: N}}", request("POST", "/x", ("All", "b")), "no-policy"),
        ("{header: {all: a}, json: {/a: N}}", request("POST", "/x", ("All", "a"), body='{"a": 4}'), "n4"),
        ("{form: {action: aN}}", request("POST", "/x", FORM, body="action=a7&x=1"), "n7"),
        ("{form: {action: aN}}", request("POST", "/x", FORM), "body"),
        ("{form: {action: aN}}", request("POST", "/x", body="{}"), "ambiguous-target"),
        ("{graphql: {mutation: [aN, bN]}}", graphql("mutation { x: a3 b3 }"), "n3"),
        ("{graphql: {mutation: [aN, bN]}}", graphql("mutation { a3 b4 }"), "no-policy"),
        ("{graphql: {mutation: [aN, bN]}}", graphql("query { a3 }"), "no-policy"),
        ("{graphql: {mutation: [aN, bN]}}", request("POST", "/x", FORM, body="query={a}"), "ambiguous-target"),
    ],
)
def test_a_rule_among_many_is_found_by_its_value(tmp_path: Path, when: str, asked: Request, name: str) -> None:
    """The body is asked for only where it decides, and refusals are those of the conditions."""
    assert taken(rules(tmp_path, many(when)), asked) == name


def test_entries_without_the_value_are_asked_too(tmp_path: Path) -> None:
    """A rule without conditions takes what the others leave, an entry for any field of a type what it names."""
    ruleset = rules(
        tmp_path,
        many("{graphql: {mutation: [aN]}}", "  - {name: rest, match: POST /x, resource: r}\n")
        + "read_only:\n  - {match: POST /x, when: {graphql: [query, subscription]}}\n",
    )

    assert taken(ruleset, graphql("mutation { a1 }")) == "n1"
    assert taken(ruleset, graphql("mutation { a1 a2 }")) == "rest"
    assert taken(ruleset, graphql("{ a1 other }")) == "read"
    assert taken(ruleset, graphql("subscription { a1 }")) == "read"


def test_a_mutation_that_no_rule_allows_is_named(tmp_path: Path) -> None:
    """The agent sees which root fields stood together."""
    refused = rules(tmp_path, many("{graphql: {mutation: [aN]}}")).match(graphql("mutation { a1 a2 }"), CALLER)

    assert isinstance(refused, Refused)
    assert refused.decision is NO_POLICY
    assert "mutation { a1, a2 }" in refused.detail


@pytest.mark.parametrize(
    ("target", "mutation"), [("/x", "ambiguous-target"), ("/X/", "ambiguous-target"), ("/x/y", "read"), ("/y", "read")]
)
def test_a_mutation_in_the_url_of_a_read_is_refused_where_rules_read_graphql(
    tmp_path: Path, target: str, mutation: str
) -> None:
    """Neither case nor a slash at the end makes another endpoint of it; other paths are none of GraphQL's."""
    ruleset = rules(tmp_path, many("{graphql: {mutation: [aN]}}"))

    assert taken(ruleset, request("GET", target)) == "read"
    assert taken(ruleset, request("GET", f"{target}?query=%7Ba%7D")) == "read"
    assert taken(ruleset, request("GET", f"{target}?query=mutation%7Ba%7D")) == mutation
