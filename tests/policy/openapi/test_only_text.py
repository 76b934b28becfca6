"""`only` as it stands in a proposed policy: what a document describes passes, and nothing else."""

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gateway.core.caller import NOBODY
from gateway.policy.finding import Wrong
from gateway.policy.openapi.operation import read_operations
from gateway.policy.openapi.policy_text import PolicyText, policy_text
from gateway.policy.openapi.tree import Tree
from gateway.policy.review.answer import answer
from tests.policy.asking import request, rules
from tests.policy.openapi.documents import document
from tests.policy.openapi.test_policy_text import loaded

JSON = "application/json"
TEXT = {"type": "string"}
READ = TEXT | {"readOnly": True}
WORDS = ["", "x", "é", "1", "true", "null", "~", "a: b", "on", '"']


def listed(directory: Path, paths: Any) -> PolicyText:
    return policy_text(document(directory, paths, names_all=True), "a.json", "up")


def body(schema: Any, kind: str = JSON) -> dict[str, Any]:
    return {"requestBody": {"content": {kind: {"schema": schema}}}}


def only_of(policy: PolicyText) -> str:
    """The lines about it of a policy with one rule."""
    lines = policy.text.partition("    resource: ")[2].splitlines()[1:]
    return "\n".join(line for line in lines if not line.startswith("    # intent"))


def test_rules_that_list_not_all_are_counted(tmp_path: Path) -> None:
    """Only where lists were asked for; what has no rule does not count."""
    paths = {"/a": {"post": body({}, "text/plain"), "put": body({"properties": {"a": TEXT}})}, "/a/{b}:c": {"put": {}}}

    assert listed(tmp_path, paths).unlisted == 1
    assert policy_text(document(tmp_path, paths), "a.json", "up").unlisted == 0


@pytest.mark.parametrize(
    ("operation", "wanted"),
    [
        ({}, "    only: {query: [], json: [], header: []}"),
        (body({"properties": {"a": TEXT}}), "    only: {query: [], json: [/a], header: []}"),
        (
            {"parameters": [{"name": "q", "in": "query", "schema": {"type": "string", "enum": ["b", "no"]}}]}
            | body({"properties": {"a": {"enum": ["x"]}, "b": {"type": "array", "items": {"enum": ["x", "y"]}}}}),
            '    only: {query: [{q: [b, "no"]}], json: [{/a: [x]}, {/b: [[x, y]]}], header: []}',
        ),
        (
            body({"properties": {"a": {"enum": [f"word-{at}" for at in range(16)]}}}),
            "    only:\n"
            "      query: []\n"
            f"      json: [{{/a: [{', '.join(f'word-{at}' for at in range(12))},\n"
            "        word-12, word-13, word-14, word-15]}]\n"
            "      header: []",
        ),
        (body({"properties": {"no": TEXT, "a b": TEXT, "é": TEXT, "😀": TEXT}}), None),
        (
            body({}, "text/plain"),
            "    # Its body is not listed: it may be `text/plain`, whose members no list names.\n"
            "    only: {query: [], header: []}",
        ),
        (
            body({"properties": {"f": {"type": "string", "format": "binary"}}}, "multipart/form-data"),
            "    # Its body is not listed: it has a file (`f`), and with a list bodies are read whole.\n"
            "    # A field `_method` in it is another method to Rails, Laravel and Symfony: there list `form`.\n"
            "    only: {query: [], header: []}",
        ),
        (
            body({"properties": {"id": READ, "by": {"properties": {"id": READ, "a": TEXT}}}}),
            "    # Not listed, as the document calls them read-only: /id, /by/id.\n"
            "    only: {query: [], json: [/by/a], header: []}",
        ),
        (
            body({"properties": {"id": READ, "a": TEXT}}, "application/x-www-form-urlencoded"),
            "    # Not listed, as the document calls them read-only: id.\n    only: {query: [], form: [a], header: []}",
        ),
        (
            body({"properties": {"m": {"additionalProperties": True, "properties": {"id": READ}}}}),
            "    # Listed with whatever is below, where a null, a text, a list in a list or other names may be, or too "
            "many: /m.\n"
            "    only: {query: [], json: [/m], header: []}",
        ),
        (
            {"parameters": [{"name": "q", "in": "query", "schema": {"type": "object"}}]},
            "    # Without `only`: its query has `q`, which has members that the document does not name.",
        ),
        (
            body({"properties": {f"member_{at}": TEXT for at in range(12)}}),
            "    only:\n"
            "      query: []\n"
            f"      json: [{', '.join(f'/member_{at}' for at in range(9))},\n"
            "        /member_9, /member_10, /member_11]\n"
            "      header: []",
        ),
    ],
    ids=[
        *("nothing", "a member", "values", "many values", "odd names", "no list", "a file"),
        *("read-only members", "a read-only field", "read-only where anything passes", "nothing at all", "many"),
    ],
)
def test_the_lines_of_a_rule(tmp_path: Path, operation: Any, wanted: str | None) -> None:
    """One while it is short; names as they are, quoted where YAML would read something else."""
    found = only_of(listed(tmp_path, {"/a": {"post": operation}}))

    assert found == (wanted or '    only: {query: [], json: [/no, "/a b", "/é", "/😀"], header: []}')


def test_what_the_rule_itself_looks_at_is_listed(tmp_path: Path) -> None:
    """A value of its path's query, and the member that names the thing; else it would not load."""
    by_id = {"parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}]}
    paths = {
        "/pets": {"put": body({"properties": {"id": {"type": "integer"}}})},
        "/pets/{id}": {"delete": by_id},
        "/files?op=move": {"post": {}},
    }

    policy = listed(tmp_path, paths)

    assert "only: {query: [], json: [/id], header: []}" in policy.text
    assert "only: {query: [op], json: [], header: []}" in policy.text
    loaded(policy.text)


def test_what_looks_like_a_read_has_its_list_beside_it(tmp_path: Path) -> None:
    """Uncommented with it: what says more is no read that anybody has seen."""
    policy = listed(tmp_path, {"/docs/search": {"post": body({"properties": {"text": TEXT}})}})

    opened = policy.text.replace("# read_only:", "read_only:").replace("#   - match", "  - match")
    ruleset = rules(tmp_path, opened.replace("#     only", "    only").partition("writes:")[0] + "writes: []\n")

    said = [answer(ruleset, request("POST", "/up/docs/search", body=one), NOBODY) for one in ('{"text":""}', '{"x":1}')]
    assert [one.decision for one in said] == ["passed", "no-policy"]


def test_a_read_whose_body_is_not_listed_has_no_list(tmp_path: Path) -> None:
    """There what is left out allows nothing, and no body would pass."""
    policy = listed(tmp_path, {"/docs/search": {"post": body({"type": "object"})}})

    assert "#     # Without `only`: it is no JSON object" in policy.text
    assert policy.text.count("only: {query: [], header: []}") == 1


def test_without_the_option_nothing_is_listed(tmp_path: Path) -> None:
    """A document rarely tells all."""
    read = document(tmp_path, {"/a": {"post": body({"properties": {"a": TEXT}})}})

    assert "only" not in policy_text(read, "a.json", "up").text


# Schemas with values that they describe.
scalars = st.sampled_from(
    [
        ({"type": "string"}, st.sampled_from(["", "x", "é"])),
        ({"type": "integer"}, st.integers(0, 99)),
        ({"type": "string", "enum": WORDS}, st.sampled_from(WORDS)),
        ({"enum": ["x", "y z"]}, st.sampled_from(["x", "y z"])),
        ({"type": "number", "enum": [1, -2.5]}, st.sampled_from([1, -2.5])),
        ({"type": ["boolean", "null"], "const": True}, st.sampled_from([True, None])),
    ]
)
names = st.text(max_size=5) | st.sampled_from(
    ["id", "a/b", "~", "a-b", "constructor", "null", "a: b", "#", "op", "$ref"]
)
Described = tuple[dict[str, Any], st.SearchStrategy[Any]]


def listing(inner: Described) -> Described:
    return {"type": "array", "items": inner[0]}, st.lists(inner[1], max_size=2)


def maybe_null(inner: Described) -> Described:
    return {"anyOf": [inner[0], {"type": "null"}]}, st.none() | inner[1]


def any_of(some: list[Described]) -> Described:
    return {"oneOf": [schema for schema, _ in some]}, st.one_of([values for _, values in some])


def an_object(members: dict[str, Described]) -> Described:
    schema = {"type": "object", "properties": {name: schema for name, (schema, _) in members.items()}}
    return schema, st.fixed_dictionaries({}, optional={name: values for name, (_, values) in members.items()})


def a_map(inner: Described) -> Described:
    return {"type": "object", "additionalProperties": inner[0]}, st.dictionaries(names, inner[1], max_size=2)


described: st.SearchStrategy[Described] = st.recursive(
    scalars,
    lambda inner: st.one_of(
        inner.map(listing),
        inner.map(maybe_null),
        inner.map(a_map),
        st.lists(inner, min_size=1, max_size=2).map(any_of),
        st.dictionaries(names, inner, max_size=3).map(an_object),
    ),
    max_leaves=8,
)
bodies = st.dictionaries(names, described, max_size=4).map(an_object) | described


def test_what_the_rule_asks_of_its_query_is_not_held_to_the_document(tmp_path: Path) -> None:
    """It may be another value than those that are listed."""
    parameter = {"name": "action", "in": "query", "schema": {"type": "string", "enum": ["b"]}}
    policy = listed(tmp_path, {"/a?action=c": {"post": {"parameters": [parameter]}}})

    assert "only: {query: [action], json: [], header: []}" in policy.text
    assert loaded(policy.text)


@given(bodies, st.lists(names, max_size=3, unique=True), st.data())
def test_what_a_document_describes_is_allowed(one: Described, query: list[str], data: st.DataObject) -> None:
    """Whatever names and schemas it has: a request that is made of it is refused for none of its names. A body of null
    is none that anybody needs.
    """
    schema, values = one
    parameters = [{"name": name, "in": "query", "schema": TEXT} for name in query]
    root = {"paths": {"/a": {"post": {"parameters": parameters, **body(schema)}}}}
    read = read_operations(Tree(json.loads(json.dumps(root))), names_all=True)
    assert not isinstance(read, Wrong)
    ruleset = loaded(policy_text(read, "a.json", "up").text)
    sent = json.dumps(data.draw(values), ensure_ascii=False)
    assume(sent != "null")
    target = "/up/a?" + "&".join(f"{quote(name, safe='')}=1" for name in query if name) if any(query) else "/up/a"

    found = answer(ruleset, request("POST", target, body=sent), NOBODY)

    assert found.decision != "no-policy", found
