"""linear.yaml: a second document, operation or id, in the URL, beside the query and within it."""

import json
from urllib.parse import quote

import pytest

from gateway.policy.ruleset import RuleSet
from tests.policy.examples.shipped import shipped, told

ISSUE, OTHER = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
READ = "query{viewer{id}}"
UPDATE = f'mutation{{issueUpdate(id:"{ISSUE}",input:{{}}){{success}}}}'
DELETE = f'mutation{{issueDelete(id:"{OTHER}"){{success}}}}'


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return shipped(tmp_path_factory.mktemp("linear"), "linear")


@pytest.mark.parametrize(
    "parameter",
    [
        *(f"{name}={quote(DELETE)}" for name in ("query", "Query", "query%5B%5D")),
        *(f"{name}=x" for name in ("operationName", "documentId", "variables", "extensions")),
    ],
)
@pytest.mark.parametrize("document", [READ, UPDATE])
def test_a_document_has_nothing_beside_it_in_the_url(ruleset: RuleSet, document: str, parameter: str) -> None:
    """Servers differ in which of the two they run."""
    body = {"query": document}

    assert told(ruleset, "POST", f"/linear/graphql?{parameter}", body=body) == "ambiguous-target"


@pytest.mark.parametrize(
    "name",
    [
        *("documentId", "document_id", "doc_id", "docId", "id", "queryId", "query_id", "hash", "sha256Hash", "key"),
        *("persistedQuery", "operationId", "mutation", "subscription", "operation", "operations", "queryName"),
        *("Query", "QUERY", "Variables", "OperationName"),
        *("map", "q", "document", "statement", "script", "data", "params", "body", "json", "graphql", "0", "batch"),
    ],
)
def test_a_body_has_the_members_of_a_request_alone(ruleset: RuleSet, name: str) -> None:
    """Others name what some servers run instead."""
    assert told(ruleset, "POST", "/linear/graphql", body={"query": READ, name: "abc"}) == "ambiguous-target"


BY_VARIABLE = "mutation($i:String!){issueUpdate(id:$i,input:{}){success}}"
BY_LIST = BY_VARIABLE.replace("String!", "[String]")
BY_DEFAULT = 'mutation($i:String="%s"){issueUpdate(id:$i,input:{}){success}}'


def updates(id: str, alias: str = "") -> str:
    return f'{alias}issueUpdate(id:"{id}",input:{{}}){{success}}'


@pytest.mark.parametrize(
    ("document", "variables", "decision"),
    [
        (BY_VARIABLE, {"i": ISSUE}, "forwarded"),
        (BY_DEFAULT % ISSUE, {}, "forwarded"),
        (BY_DEFAULT % OTHER, {"i": ISSUE}, "forwarded"),
        (BY_DEFAULT % ISSUE, {"i": None}, "resource-unresolved"),
        (BY_DEFAULT.replace('"%s"', "null"), {}, "resource-unresolved"),
        *(
            (f"mutation{{issueUpdate(id:{spelled},input:{{}}){{success}}}}", {}, "ambiguous-target")
            for spelled in (f'"""{ISSUE}"""', f'"\\u0031{ISSUE[1:]}"', f'" {ISSUE}"')
        ),
        (BY_LIST, {"i": [ISSUE]}, "resource-unresolved"),
        (BY_LIST, {"i": None}, "resource-unresolved"),
        (BY_VARIABLE, json.dumps({"i": ISSUE}), "ambiguous-target"),
        (f"mutation{{{updates(ISSUE, 'a:')} {updates(ISSUE, 'b:')}}}", {}, "forwarded"),
        (f"mutation{{{updates(ISSUE, 'a:')} {updates(OTHER, 'b:')}}}", {}, "ambiguous-target"),
        (f'mutation{{issueUpdate(id:"{ISSUE}",id:"{OTHER}",input:{{}}){{success}}}}', {}, "ambiguous-target"),
        (f"mutation{{...F}} fragment F on Mutation{{{updates(ISSUE)}}}", {}, "forwarded"),
        (
            f'mutation{{...F(i:"{OTHER}")}} fragment F($i:String) on Mutation{{issueUpdate(id:$i,input:{{}}){{a}}}}',
            {"i": ISSUE},
            "ambiguous-target",
        ),
        (
            f'mutation{{...F}} fragment F on Mutation{{{updates(ISSUE)}}} fragment F on Mutation{{{updates(OTHER)}}}',
            {},
            "ambiguous-target",
        ),
    ],
)  # fmt: skip
def test_an_issue_is_the_one_that_is_written(ruleset: RuleSet, document: str, variables: object, decision: str) -> None:
    """By a literal or by a variable's value, a fragment's too; never by one of two."""
    body = {"query": document, "variables": variables}

    assert told(ruleset, "POST", "/linear/graphql", body=body) == decision


SPREAD = " ".join(f"fragment f{at} on Q {{ ...f{at + 1} ...f{at + 1} }}" for at in range(60))
MUTATING = " ".join(f"fragment f{at} on M {{ ...f{at + 1} a{at}:x ...f{at + 1} }}" for at in range(60))
DOCUMENTS = {
    "two operations": (f"query A{{viewer{{id}}}} {DELETE}", "ambiguous-target"),
    "a subscription": ("subscription{x}", "no-policy"),
    "a type": (f"type Q{{a:Int}} {READ}", "ambiguous-target"),
    "a schema": (f'schema{{query:Mutation}} query{{issueDelete(id:"{OTHER}"){{success}}}}', "ambiguous-target"),
    "a carriage return in a comment": (f"{READ} #\r{DELETE}", "ambiguous-target"),
    "a line separator in a comment": (f"{READ} #\u2028{DELETE}", "ambiguous-target"),
    "a byte order mark": (f"\ufeff{READ}", "ambiguous-target"),
    "a NUL": (f"{READ}\0{DELETE}", "ambiguous-target"),
    "a circle of fragments": ("query{...a} fragment a on Q{...b} fragment b on Q{...a}", "ambiguous-target"),
    "15,000 levels": ("{" + "a{" * 15_000 + "b" + "}" * 15_000 + "}", "ambiguous-target"),
    "5,000 variables": (
        f"mutation({','.join(f'$a{at}:A' for at in range(5000))}){{{updates(ISSUE)}}}",
        "ambiguous-target",
    ),
    "fragments that double sixty times": (f"query{{...f0}} {SPREAD} fragment f60 on Q{{a}}", "passed"),
    "such ones of a mutation": (f"mutation{{...f0}} {MUTATING} fragment f60 on M{{{updates(ISSUE)}}}", "no-policy"),
}  # fmt: skip


@pytest.mark.parametrize(("document", "decision"), DOCUMENTS.values(), ids=DOCUMENTS)
def test_a_document_is_one_operation_and_read_at_once(ruleset: RuleSet, document: str, decision: str) -> None:
    """What would take for ever if it were followed in all its ways is not."""
    assert told(ruleset, "POST", "/linear/graphql", body={"query": document}) == decision


@pytest.mark.parametrize("path", ["/linear/graphql", "/linear/", "/linear/x"])
def test_nothing_is_changed_by_a_get(ruleset: RuleSet, path: str) -> None:
    """At any path: servers run the document of a URL."""
    told_of = [told(ruleset, "GET", f"{path}?query={quote(document)}") for document in (READ, UPDATE, DELETE)]

    assert told_of == ["passed", "ambiguous-target", "ambiguous-target"]


def test_several_requests_are_none(ruleset: RuleSet) -> None:
    """A server that takes a list runs them all."""
    assert told(ruleset, "POST", "/linear/graphql", body=[{"query": READ}, {"query": UPDATE}]) == "ambiguous-target"


@pytest.mark.parametrize(
    ("document", "name"), [("query A{viewer{id}}", "B"), (f"query A{{viewer{{id}}}} {DELETE}", "A")]
)
def test_another_operation_is_not_named(ruleset: RuleSet, document: str, name: str) -> None:
    """Nor does a name choose one of two."""
    body = {"query": document, "operationName": name}

    assert told(ruleset, "POST", "/linear/graphql", body=body) == "ambiguous-target"
