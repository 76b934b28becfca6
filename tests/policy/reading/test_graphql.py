"""A GraphQL request is one operation that every server would run, or none."""

import sys
from urllib.parse import quote

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.core.target import Target, read_target
from gateway.policy.finding import Wrong
from gateway.policy.reading.graphql import (
    load_parser,
    may_be_write_in_url,
    parse_argument,
    parse_root_field,
    read_operation,
    write_in_url,
)
from gateway.policy.reading.jsonbody import JsonValue
from gateway.policy.reading.operation import Operation

DOCUMENT = "mutation { a }"
HASH = {"persistedQuery": {"version": 1, "sha256Hash": "ab"}}


def target(raw: str) -> Target:
    read = read_target(raw)
    assert isinstance(read, Target)
    return read


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"query": DOCUMENT}, "mutation { a }"),
        ({"query": "{ b }", "operationName": None, "variables": None, "extensions": None}, "query { b }"),
        ({"query": "mutation B { b }", "operationName": "B"}, "mutation { b }"),
        ({"query": "query A { a }", "operationName": ""}, "query { a }"),
        ({"query": "query null { a }", "operationName": "null"}, "query { a }"),
        ({"query": "query A { a }", "operationName": "A", "variables": {"operationName": "B"}}, "query { a }"),
        ({"query": "query A { a }", "extensions": {"operationName": "B", "query": DOCUMENT}}, "query { a }"),
        ({"query": "query A { ...F ... on Mutation { b } } fragment F on Mutation { c }"}, "query { b, c }"),
        ({"query": "query A @live @cached(ttl: 1) { a }"}, "query { a }"),
        ({"query": "subscription { c }", "extensions": {"clientLibrary": {"name": "x"}}}, "subscription { c }"),
    ],
)
def test_a_request_is_the_operation_that_it_selects(value: JsonValue, told: str) -> None:
    """The only one of the document; if `operationName` is there, it is its name. Members that the draft knows may be
    null."""
    assert str(read_operation(value, target("/graphql?trace=1"))) == told


@pytest.mark.parametrize(
    "value",
    [
        [{"query": DOCUMENT}],
        [],
        "mutation { a }",
        {},
        {"query": None},
        {"query": ["{ a }"]},
        {"query": "{ a }", "operationName": 7},
        {"query": "{ a }", "operationName": "B"},
        {"query": "query A { a } mutation B { b }"},
        {"query": "query A { a } mutation B { b }", "operationName": ""},
        {"query": "query A { a } mutation B { b }", "operationName": "A"},
        {"query": 'mutation M { b } query Q @depends(on: "M") { a }', "operationName": "Q"},
        {"query": "query A { a } mutation B { b }", "operationName": "A", "variables": {"operationName": "B"}},
        {"query": "query A { a } mutation B { b }", "operationName": "A", "extensions": {"operationName": "B"}},
        {"query": "mutation B { b } query A { a }", "operationName": "A"},
        {"query": "{ a } mutation B { b }", "operationName": "B"},
        {"query": "query A { a } extend type Query { b: Int }"},
        {"query": "query A { a }", "operationName": "a"},
        {"extensions": HASH},
        {"query": "{ a }", "extensions": HASH},
        {"query": "{ a }", "extensions": "{}"},
        {"query": "{ a }", "variables": "{}"},
        {"query": "{ a }", "variables": []},
        {"query": "{ a }", "Query": DOCUMENT},
        {"query": "{ a }", "documentId": "x"},
        {"query": "{ a }", "id": "x"},
    ],
    ids=str,
)
def test_what_another_server_could_run_otherwise_is_ambiguous(value: JsonValue) -> None:
    """Batches, persisted documents, members beyond the draft's, and several operations: Gato runs more than the one
    that is named."""
    refused = read_operation(value, target("/graphql"))

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    "query",
    [
        "query=mutation{b}",
        "Query=x",
        "query[]=x",
        "operationName=B",
        "extensions={}",
        "documentId=1",
        "queryId=1",
        "QUERYID=1",
        "id=1",
        "doc_id=1",
        "a;query=x",
    ],
)
def test_a_post_whose_url_asks_too_is_ambiguous(query: str) -> None:
    """Some servers read the URL before the body."""
    assert isinstance(read_operation({"query": "{ a }"}, target(f"/graphql?{quote(query, '=;[]')}")), Refused)


@pytest.mark.parametrize(
    ("query", "passes"),
    [
        ("", True),
        ("a=1", True),
        ("query={a}", True),
        ("query=query A{a}&operationName=A", True),
        ("query=query A{a} mutation B{b}&operationName=A", False),
        ('query={a}&variables={"x":1}&extensions={}', True),
        ("query=query A{a} mutation B{b}&operationName=B", False),
        ("query=query A{a} mutation B{b}", False),
        ("query=mutation{b}", False),
        ("query=subscription{b}", False),
        ("QUERY=mutation{b}", False),
        ("query={a}&query=mutation{b}", False),
        ("query={a", False),
        ("query=", False),
        ("documentId=1", False),
        ("queryId=1", False),
        (" queryid=1", False),
        ("id=1", False),
        ('extensions={"persistedQuery":{}}', False),
        ("query={a}&variables={", False),
        ("query={" + "a " * 1000 + "}", False),
    ],
)
def test_a_get_passes_only_with_a_query(query: str, passes: bool) -> None:
    """A read by its method must be one by its operation. Without an operation it is some other read."""
    assert (write_in_url(target(f"/graphql?{quote(query, '=&')}")) is None) == passes


@pytest.mark.parametrize(
    ("query", "looked_at"),
    [
        ("query=mutation{b}", True),
        ("query=fragment F on B{c} mutation M{b{...F}}", True),
        ("Query=subscription{b}", True),
        ("a;query=mutation{b}", True),
        ('extensions={"PersistedQuery":{}}', True),
        ("query=mutation", False),
        ("query=mutations{b}", False),
        ("query={a}", False),
        ("query=name:x&documentId=1", False),
        ("", False),
    ],
)
def test_only_what_may_change_something_is_looked_at_elsewhere(query: str, looked_at: bool) -> None:
    """Other reads have a `query` too: a search is no GraphQL. A document that changes anything says so in one word."""
    assert may_be_write_in_url(target(f"/search?{quote(query, '=&;')}")) == looked_at


def test_names_in_a_policy_are_graphql_names() -> None:
    """Of root fields, and of arguments and the way into them."""
    assert parse_root_field("issueCreate") == "issueCreate"
    assert parse_argument("input.team_id") == ("input", "team_id")
    assert isinstance(parse_root_field("issue-create"), Wrong)
    assert isinstance(parse_argument("input."), Wrong)
    assert isinstance(parse_argument("input.0"), Wrong)


def test_a_policy_that_reads_graphql_loads_the_parser() -> None:
    """No request waits for the import."""
    load_parser()

    assert "graphql" in sys.modules
    assert isinstance(read_operation({"query": DOCUMENT}, target("/")), Operation)
