"""A closed list of what a write may say: names are compared as they are spelled, and nothing else is known of them."""

import json
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import NO_POLICY, Refused
from gateway.policy.only import Only, tree_of
from gateway.policy.reading.jsonbody import Pointer, parse_pointer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, one_rule, request, rules

POLICY = """\
mount: {path: /, delimiters: opaque}
defaults:
  only: {query: [page, fields]}
writes:
  - {name: query, match: "PUT /q/{id}", resource: "q/{path.id}"}
  - {name: none, match: "PUT /n/{id}", resource: "n/{path.id}", only: {query: []}}
  - name: both
    match: PUT,DELETE /b/{id}
    resource: b/{path.id}
    only: {json: [/fields, /update/labels, /items/id, "/a~1b"]}
    intent: {mode: optional}
"""


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("only"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("/q/7", "query"),
        ("/q/7?", "query"),
        ("/q/7?page=1&fields=a&page=2", "query"),
        ("/q/7?page=1&", "query"),
        ("/q/7?%70age=1", "query"),
        ("/q/7?sudo=1", "no-policy"),
        ("/q/7?Page=1", "no-policy"),
        ("/q/7?page[]=1", "no-policy"),
        ("/q/7?page=1&page:int=8", "no-policy"),
        ("/q/7?page=1&!page=8", "no-policy"),
        ("/q/7?page=1&=8", "no-policy"),
        ("/q/7?page=1&%20=8", "no-policy"),
        ("/q/7?&page=1", "query"),
        ("/q/7?=1", "no-policy"),
        ("/q/7?page=1&sudo", "no-policy"),
        ("/q/7?page=1%26sudo=1", "query"),
        ("/q/7?page=1;sudo=1", "ambiguous-target"),
        ("/q/7?page=%zz", "ambiguous-target"),
        ("/q/7%26page=1", "ambiguous-target"),
        ("/q/7%3Fsudo=1", "ambiguous-target"),
        ("/q/7%26sudo", "ambiguous-target"),
        ("/q/7&sudo=1?page=1", "ambiguous-target"),
        ("/q/7%23sudo", "query"),
        ("/n/7", "none"),
        ("/n/7%26", "none"),
        ("/n/R%26D", "ambiguous-target"),
        ("/n/7?", "none"),
        ("/n/7?page=1", "no-policy"),
        ("/b/7?page=1", "both"),
        ("/b/7?sudo=1", "no-policy"),
    ],
)
def test_a_query_has_no_name_but_those_listed(ruleset: RuleSet, target: str, found: str) -> None:
    """In another spelling it is another name. What servers take apart in two ways is ambiguous as ever."""
    assert name_of(ruleset.match(request("PUT", target), Caller())) == found


@pytest.mark.parametrize(
    ("body", "stray"),
    [
        ({}, None),
        ({"fields": {"a": {"b": [1]}}}, None),
        ({"fields": None, "update": {"labels": "x"}, "items": []}, None),
        ({"update": {"labels": [{"add": "x"}]}}, None),
        ({"update": {}}, None),
        ({"items": [{"id": 7}, {"id": 8}]}, None),
        ({"items": {"id": [[8]]}}, None),
        ({"a/b": 1}, None),
        ({"a": {"b": 1}}, "/a"),
        ({"Fields": 1}, "/Fields"),
        ({"update": {"labels": 1, "links": []}}, "/update/links"),
        ({"items": [{"id": 7}, {"id": 8, "x/y": 1}]}, "/items/x~1y"),
        ({"": 1}, "/"),
        ({"fields.a": 1}, "/fields.a"),
    ],
    ids=repr,
)
def test_a_body_has_no_member_but_those_listed(ruleset: RuleSet, body: object, stray: str | None) -> None:
    """At, below or on the way to a pointer; the items of a list stand for the list. The refusal names the member."""
    found = ruleset.match(request("PUT", "/b/7", body=json.dumps(body)), Caller())

    assert name_of(found) == ("both" if stray is None else "no-policy")
    if isinstance(found, Refused):
        assert repr(stray) in found.detail


@pytest.mark.parametrize(
    "below", [None, True, 7, "x", '{"labels": 1}', ["x"], [[]], [{"labels": 1}, "x"], [[{"labels": 1}]]], ids=repr
)
def test_on_the_way_stand_objects_and_lists_of_them(ruleset: RuleSet, below: object) -> None:
    """In what else stands there some readers find members: serde in a list, MCP's SDK for Python in a text."""
    found = ruleset.match(request("PUT", "/b/7", body=json.dumps({"update": below})), Caller())

    assert isinstance(found, Refused)
    assert found.decision is NO_POLICY
    assert "'/update' of the body is no object" in found.detail


@pytest.mark.parametrize(
    ("headers", "body", "found"),
    [
        ((), "7", "no-policy"),
        ((), "[]", "no-policy"),
        ((), '["fields"]', "no-policy"),
        ((), '[{"fields": 1}]', "no-policy"),
        ((), "null", "no-policy"),
        ((), '"fields"', "no-policy"),
        ((), '{"fields": 1, "fields": 2}', "ambiguous-target"),
        ((), "fields", "ambiguous-target"),
        ((("Content-Type", "application/x-www-form-urlencoded"),), "fields=1", "ambiguous-target"),
        ((("Content-Type", "text/plain"),), "{}", "ambiguous-target"),
        ((("Content-Type", "application/json"),), None, "needs body"),
        ((("Content-Length", "2"), ("Content-Type", "application/json")), None, "needs body"),
        ((), None, "both"),
    ],
)
def test_what_is_no_json_has_no_members_to_list(
    ruleset: RuleSet, headers: tuple[tuple[str, str], ...], body: str | None, found: str
) -> None:
    """Any other body is refused; none says nothing."""
    assert name_of(ruleset.match(request("PUT", "/b/7", *headers, body=body), Caller())) == found


@pytest.mark.parametrize(
    ("listed", "query", "found"),
    [
        ("{json: [/doc/title]}", "", "one"),
        ("{json: [/doc/title]}", "?", "one"),
        ("{json: [/doc/title]}", "?doc[owner]=8", "no-policy"),
        ("{json: [/doc/title]}", "?doc%5Bowner%5D=8", "no-policy"),
        ("{json: [/doc/title]}", "?owner=8", "no-policy"),
        ("{json: [/doc/title]}", "?page=1", "no-policy"),
        ("{json: [/doc/title], query: page}", "?page=1", "one"),
        ("{query: [], json: []}", "?page=1", "no-policy"),
    ],
)
def test_where_members_alone_are_listed_no_parameter_is(tmp_path: Path, listed: str, query: str, found: str) -> None:
    """Rails and Laravel take a member from the query as well as from the body."""
    ruleset = rules(tmp_path, one_rule(more=f"    only: {listed}\n"))

    assert name_of(ruleset.match(request("PUT", f"/x/7{query}"), Caller())) == found


def test_a_long_name_is_shown_in_part(ruleset: RuleSet) -> None:
    """What the caller sent does not fill the answer."""
    found = ruleset.match(request("PUT", "/b/7", body=json.dumps({"x" * 5000: 1})), Caller())

    assert isinstance(found, Refused)
    assert len(found.detail) < 300


@pytest.mark.parametrize(
    ("listed", "asked", "allowed"),
    [
        (["/a"], "/a", True),
        (["/a"], "/a/b/0", True),
        (["/a/b", "/a"], "/a/c", True),
        (["/a/b"], "/a", False),
        (["/a/b"], "/a/c", False),
        (["/a/b"], "/a/0/b", True),
        (["/a/b"], "/a/0", False),
        (["/a/b"], "/a/0/c", False),
        (["/a/0/b"], "/a/0/b", True),
        (["/a"], "/0/a", False),
        ([], "/a", False),
    ],
)
def test_a_pointer_is_allowed_where_whatever_stands_there_is(listed: list[str], asked: str, allowed: bool) -> None:
    """Of what is only on the way, nothing is known. A shorter pointer holds all that a longer one does."""
    pointers = [parse_pointer(text) for text in (*listed, asked)]
    *own, one = [each for each in pointers if isinstance(each, Pointer)]

    assert Only(json=tree_of(own)).allows(one) is allowed
