"""All that a document names of what an operation's requests say."""

from typing import Any

import pytest

from gateway.policy.openapi.documented import Documented, documented
from gateway.policy.openapi.listed import NULL, Listed
from gateway.policy.openapi.tree import Tree

TEXT = {"type": "string"}
AT = {"type": "object", "properties": {"x": TEXT, "y": TEXT}}
KEY = {"securitySchemes": {"a": {"type": "apiKey", "in": "query", "name": "key"}, "b": {"type": "http"}}}
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


def query(**more: Any) -> dict[str, Any]:
    return {"name": "q", "in": "query", **more}


@pytest.mark.parametrize(
    ("parameter", "names"),
    [
        (query(schema=TEXT), ("q",)),
        (query(schema={"type": "array", "items": TEXT}), ("q",)),
        (query(schema={"type": "array", "items": TEXT}, name="q[]"), ("q[]",)),
        (query(schema=AT), ("x", "y")),
        (query(schema=AT, style="form", explode="true"), ("x", "y")),
        (query(schema=AT, explode="false"), ("q",)),
        (query(schema=AT, style="pipeDelimited"), ("q",)),
        (query(schema=AT, style="deepObject"), ("q[x]", "q[y]")),
        (query(content={JSON: {"schema": AT}}), ("q",)),
        (query(), ("q",)),
        ({"name": "p", "in": "path"}, ()),
    ],
)
def test_a_parameter_is_named_as_it_is_spelled(parameter: Any, names: tuple[str, ...]) -> None:
    """By style and `explode`, an object by its members."""
    assert documented(Tree({}), {"parameters": [parameter]}, {}) == Documented(names, ())


@pytest.mark.parametrize(
    ("parameter", "why"),
    [
        (query(schema={"type": "object"}), "its query has `q`, which has members that the document does not name"),
        (query(schema={"type": "array"}, style="deepObject"), "its query has `q`, which has members that the document"),
        (query(schema={"properties": {"x": AT}}), "its query has `q`, which has members that the document"),
        ({"$ref": "https://x.example"}, "a parameter was not read"),
        (query(name=""), "its query has ``"),
    ],
    ids=["a map", "a list in brackets", "an object within one", "unread", "nameless"],
)
def test_where_a_query_may_have_others_nothing_is_listed(parameter: Any, why: str) -> None:
    """Of the body neither: a list of that would close the query, too."""
    found = documented(Tree({}), {}, {"parameters": [parameter]})

    assert (found.query, found.json, found.form) == (None, None, None)
    assert found.why.startswith(why)


def test_of_more_parameters_than_are_read_nothing_is_listed() -> None:
    """Whoever sends one of the others would be refused."""
    found = documented(Tree({}), {}, {"parameters": [query(schema=TEXT)] * 201})

    assert (found.query, found.why) == (None, "a parameter was not read")


@pytest.mark.parametrize(
    ("named", "listed"),
    [
        ((("X-Mode", "header"), ("x-mode", "header"), ("If-Match", "header")), ("X-Mode", "If-Match")),
        ((("Accept", "header"), ("Content-Type", "header"), ("Authorization", "header")), ()),
        ((("Via", "header"), ("X-Ms-Client-Request-Id", "header")), ("Via", "X-Ms-Client-Request-Id")),
        ((("Content-Profile", "header"), ("Date", "header")), ("Content-Profile", "Date")),
        ((("a", "cookie"), ("b", "cookie")), ("Cookie",)),
        ((("X-HTTP-Method-Override", "header"), ("Fencing-Token", "header")), ()),
        ((("X Y", "header"), ("", "header"), ("\u00e9", "header")), ()),
    ],
)
def test_headers_are_named_beyond_those_that_clients_send_unasked(
    named: tuple[tuple[str, str], ...], listed: tuple[str, ...]
) -> None:
    """Cookies by the one header that has them; what would be dropped, as the document names it. What is refused anyway
    is not allowed by a list."""
    given = [{"name": name, "in": place} for name, place in named]

    assert documented(Tree({}), {"parameters": given[:1]}, {"parameters": given[1:]}).header == listed


def test_a_key_that_callers_show_in_a_header_is_named() -> None:
    """As they send it, where the policy does not."""
    schemes = {"a": {"type": "apiKey", "in": "header", "name": "X-Key"}, "b": {"type": "apiKey", "in": "cookie"}}

    assert documented(Tree({"components": {"securitySchemes": schemes}}), {}, {}).header == ("X-Key", "Cookie")


def test_a_key_of_the_api_in_the_query_is_named() -> None:
    """Of whatever operation."""
    assert documented(Tree({"components": KEY}), {}, {}).query == ("key",)


def body(*types: str, schema: Any = AT) -> dict[str, Any]:
    return {"requestBody": {"content": {name: {"schema": schema} for name in types}}}


@pytest.mark.parametrize(
    ("operation", "said"),
    [
        ({}, Documented((), ())),
        (body(JSON), Documented((), ("/x", "/y"))),
        (body(f"{JSON}; charset=utf-8"), Documented((), ("/x", "/y"))),
        (body("application/vnd.api+json"), Documented((), ("/x", "/y"))),
        (body(JSON, "text/json", "application/*+json"), Documented((), ("/x", "/y"))),
        (body(JSON, schema={"properties": {"at": AT}}), Documented((), ("/at/x", "/at/y"))),
        (
            body("application/merge-patch+json", schema={"properties": {"at": AT}}),
            Documented((), ("/at",), whole=("/at",)),
        ),
        (body(FORM), Documented((), None, ("x", "y"))),
        (body("multipart/form-data"), Documented((), None, ("x", "y"))),
        (body(JSON, FORM), Documented((), ("/x", "/y"), ("x", "y"))),
    ],
    ids=[
        *("none", "JSON", "with a parameter", "as JSON", "ASP.NET's", "deeper", "a merge patch", "a form", "parts"),
        "either",
    ],
)
def test_a_bodys_names_are_those_of_all_its_types(operation: Any, said: Documented) -> None:
    """In a merge patch a null takes out an object, so that its members are not listed one by one, which is told."""
    assert documented(Tree({}), {}, operation) == said


@pytest.mark.parametrize(
    ("operation", "why"),
    [
        (body(JSON, "application/xml"), "it may be `application/xml`, whose members no list names"),
        (body("*/*"), "it may be `*/*`, whose members no list names"),
        (body("text/json"), "it may be `text/json`, whose members no list names"),
        (body("application/octet-stream"), "it may be `application/octet-stream`, whose members no list names"),
        (body(JSON, schema={}), "it is no JSON object, or one with members that the document does not name"),
        (body(JSON, FORM, schema={"type": "object"}), "it is no JSON object, or one with members that the document"),
        (body(FORM, schema={"type": "object"}), "it may have fields that the document does not name"),
        ({"requestBody": {"$ref": "#/nowhere"}}, "it is not described"),
        ({"requestBody": {}}, "it is not described"),
    ],
)
def test_a_body_that_may_say_more_is_not_listed(operation: Any, why: str) -> None:
    """The query is."""
    found = documented(Tree({}), {}, operation)

    assert (found.query, found.json, found.form) == ((), None, None)
    assert found.why.startswith(why)


WORDS = {"type": "string", "enum": ["a", "b"]}
AB = Listed(("a", "b"))
MANY = {"type": "array", "items": WORDS}


@pytest.mark.parametrize(
    ("parameter", "values"),
    [
        (query(schema=WORDS), {"q": AB}),
        (query(schema=WORDS | {"nullable": "true"}), {"q": AB}),
        (query(schema={"type": "integer", "enum": ["1"]}), {"q": Listed(("1",))}),
        (query(schema={"type": "boolean", "enum": ["true"]}), {}),
        (query(schema=MANY), {"q": AB}),
        (query(schema=MANY, explode="false"), {}),
        (query(schema=MANY, style="pipeDelimited"), {}),
        (query(schema=WORDS, allowEmptyValue="true"), {}),
        (query(content={JSON: {"schema": WORDS}}), {}),
        (query(schema={"type": "object", "properties": {"x": WORDS, "y": TEXT}}), {"x": AB}),
        (query(schema={"type": "object", "properties": {"x": WORDS}}, style="deepObject"), {"q[x]": AB}),
    ],
)
def test_a_parameters_values_are_told_where_each_stands_alone(parameter: Any, values: Any) -> None:
    """Of a list in one text there are too many; what may be empty is no word."""
    assert documented(Tree({}), {"parameters": [parameter]}, {}).values.get("query", {}) == values


def test_an_operations_parameter_stands_over_its_paths_values() -> None:
    """As over the rest of it."""
    item = {"parameters": [query(schema=WORDS), {"name": "x-a", "in": "header", "schema": WORDS}]}
    operation = {"parameters": [query(schema=TEXT), {"name": "X-A", "in": "header", "schema": TEXT}]}

    assert documented(Tree({}), item, operation).values == {}
    assert documented(Tree({}), operation, item).values == {"query": {"q": AB}, "header": {"X-A": AB}}


OBJECT = {"properties": {"x": WORDS, "y": MANY, "z": TEXT, "at": {"properties": {"x": WORDS}}}}


@pytest.mark.parametrize(
    ("operation", "values"),
    [
        (body(JSON, schema=OBJECT), {"json": {"/x": AB, "/y": Listed((), ("a", "b")), "/at/x": AB}}),
        (
            body("application/merge-patch+json", schema=OBJECT),
            {"json": {"/x": AB.or_null, "/y": Listed((NULL,), ("a", "b"))}},
        ),
        (body(FORM, schema={"properties": {"x": WORDS, "y": MANY}}), {"form": {"x": AB}}),
        (body(FORM, "multipart/form-data", schema={"properties": {"x": WORDS}}), {}),
        # The other one has any text at `/x` and `/y`.
        (
            {"requestBody": {"content": {JSON: {"schema": OBJECT}, "application/a+json": {"schema": AT}}}},
            {"json": {"/at/x": AB}},
        ),
    ],
    ids=["JSON", "a merge patch", "a form", "parts", "two of one kind"],
)
def test_a_bodys_values_are_those_of_all_its_types(operation: Any, values: Any) -> None:
    """In a merge patch a null takes out what stands there. Of parts no value is read."""
    assert documented(Tree({}), {}, operation).values == values
