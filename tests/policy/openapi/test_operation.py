"""What is taken from a document: its writing operations, and no more."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.finding import Wrong
from gateway.policy.openapi.operation import Credential, Header, read_document, read_operations
from gateway.policy.openapi.tree import Tree
from tests.policy.openapi.documents import document, text


def test_writing_methods_are_operations(tmp_path: Path) -> None:
    """Reads, TRACE and extensions are not."""
    item: dict[str, Any] = {
        name: {} for name in ("get", "head", "options", "trace", "post", "put", "patch", "delete", "x-post")
    }

    read = document(tmp_path, {"/a": item, "x-b": item, "/c": {"put": "nonsense"}})

    assert [str(each) for each in read.operations] == ["POST /a", "PUT /a", "PATCH /a", "DELETE /a"]


def test_a_method_that_no_rule_is_written_for_is_told(tmp_path: Path) -> None:
    """OpenAPI 3.2 has QUERY and, under `additionalOperations`, any other; some documents just write them."""
    item = {"query": {}, "copy": {"responses": {}}, "additionalOperations": {"MOVE": {}, "GET": {}}, "x-a": {}}

    read = document(tmp_path, {"/a": item, "/b": {"query": {}, "servers": []}})

    advice = "no rule; where it changes nothing, write an entry of `read_only`, else a rule"
    assert read.faults == (f"MOVE /a: {advice}", f"QUERY /a, /b: {advice}", f"copy /a: {advice}")
    assert read.operations == ()


def test_an_operations_header_stands_over_its_paths(tmp_path: Path) -> None:
    """And both may be references; what is no header, or cannot be read, is not one."""
    read = document(
        tmp_path,
        {
            "/a": {
                "parameters": [
                    {"name": "If-Match", "in": "header"},
                    {"name": "id", "in": "path"},
                    {"$ref": "https://x.example/y"},
                    {"$ref": "https://x.example/y"},
                ],
                "put": {"parameters": [{"$ref": "#/components/parameters/M"}, "nonsense"]},
            }
        },
        components={"parameters": {"M": {"name": "if-match", "in": "header", "required": True}}},
    )

    (operation,) = read.operations
    assert operation.headers == (Header("if-match", True),)
    assert len(operation.faults) == 2


@pytest.mark.parametrize(
    ("hint", "is_read"),
    [
        ({"x-read-only": True}, True),
        ({"x-readOnlyHint": True}, True),
        ({"x-safe": False}, False),
        ({"x-b": True}, False),
    ],
    ids=["read-only", "as MCP spells it", "denied", "another"],
)
def test_an_extension_may_hint_at_a_read(tmp_path: Path, hint: dict[str, bool], is_read: bool) -> None:
    """Only a hint: a policy has to say it."""
    assert document(tmp_path, {"/a": {"post": hint}}).operations[0].hinted_read is is_read


@pytest.mark.parametrize(
    ("servers", "server"),
    [
        (
            [{"url": "https://{r}.example", "variables": {"r": {"default": "eu"}}}, {"url": "https://b"}],
            "https://eu.example",
        ),
        ([{"url": "/v1"}], "/v1"),
        ([{"url": ["x"]}], None),
        ("nonsense", None),
        ([], None),
    ],
    ids=["variables", "a path", "no text", "no list", "none"],
)
def test_the_first_server_is_the_upstreams(tmp_path: Path, servers: object, server: str | None) -> None:
    """With its variables replaced by their defaults."""
    assert document(tmp_path, {}, servers=servers).server == server


@pytest.mark.parametrize(
    ("scheme", "credential"),
    [
        ({"type": "http", "scheme": "bearer"}, Credential("Authorization", "Bearer")),
        ({"type": "http", "scheme": "Basic"}, Credential("Authorization", "Basic")),
        ({"type": "apiKey", "in": "header", "name": "X-Api-Key"}, Credential("X-Api-Key", "")),
        ({"type": "apiKey", "in": "query", "name": "key"}, None),
        ({"$ref": "#/nowhere"}, None),
    ],
    ids=["bearer", "basic", "key in a header", "key in the query", "unreadable"],
)
def test_how_callers_show_who_they_are_is_known(tmp_path: Path, scheme: object, credential: Credential | None) -> None:
    """Where the document says it."""
    assert document(tmp_path, {}, components={"securitySchemes": {"a": scheme}}).credential == credential


def test_a_path_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    """Its operations get no rule, and the others do."""
    read = document(tmp_path, {"/a": {"$ref": "paths.yaml#/a"}, "/b": {"$ref": "#/paths/~1c"}, "/c": {"put": {}}})

    assert [str(each) for each in read.operations] == ["PUT /b", "PUT /c"]
    assert read.faults[0].startswith("/a: `paths.yaml#/a` lies outside the document")


def test_too_many_operations_and_no_paths_are_errors(tmp_path: Path) -> None:
    """A document has bounds."""
    (tmp_path / "a.json").write_text(text("nonsense"))
    endless = Tree({"paths": {f"/{at}": {"put": {}} for at in range(20_001)}})

    for read in (read_document(tmp_path / "a.json"), read_document(tmp_path / "none"), read_operations(endless)):
        assert isinstance(read, Wrong)


def test_json_types_of_bodies_are_read(tmp_path: Path) -> None:
    """Those that end in `+json`, without parameters, also behind a reference; ranges and other types are none."""
    content: dict[str, Any] = {
        "application/json": {},
        "Application/VND.api+JSON; charset=utf-8": {},
        "application/*+json": {},
        "image/png": {},
    }
    read = document(
        tmp_path,
        {
            "/a": {
                "post": {"requestBody": {"content": content}},
                "put": {"requestBody": {"$ref": "#/components/requestBodies/B"}},
                "patch": {"requestBody": {"$ref": "https://x.example/y"}},
                "delete": {"requestBody": {"content": ["a+json"]}},
            }
        },
        components={"requestBodies": {"B": {"content": {"application/merge-patch+json": {}}}}},
    )

    types = {each.method: each.json_types for each in read.operations}
    assert types == {
        "POST": ("application/vnd.api+json",),
        "PUT": ("application/merge-patch+json",),
        "PATCH": (),
        "DELETE": (),
    }


def test_what_a_path_and_a_body_hold_is_read(tmp_path: Path) -> None:
    """Of one operation, the parameters of its path too."""
    parameters = [{"name": "id", "in": "path", "schema": {"type": "integer"}}]
    put = {"requestBody": {"content": {"application/json": {"schema": {"properties": {"id": {"type": "integer"}}}}}}}

    (operation,) = document(tmp_path, {"/a/{id}": {"parameters": parameters, "put": put}}).operations

    assert operation.kinds == {"id": "integer"}
    assert (operation.body.kinds, operation.body.exact) == ({"id": "integer"}, True)


def test_parameters_are_wanted_or_may_be_several_segments(tmp_path: Path) -> None:
    """An operation's own stand over those of its path. Of cookies the names are known."""
    of_path = [{"name": name, "in": "query", "required": True} for name in ("a", "b")]
    own = [
        {"name": "b", "in": "query"},
        {"name": "c", "in": "cookie"},
        {"name": "file", "in": "path", "required": True, "x-multi-segment": True},
        {"name": "id", "in": "path", "required": True},
    ]

    (operation,) = document(tmp_path, {"/{id}/{file}": {"parameters": of_path, "put": {"parameters": own}}}).operations

    assert (set(operation.wanted), set(operation.rests), set(operation.cookies)) == ({"a"}, {"file"}, {"c"})


def test_what_stands_beside_a_paths_reference_is_an_operation_too(tmp_path: Path) -> None:
    """And over what the reference leads to, where both have it."""
    item = {"$ref": "#/components/pathItems/A", "put": {"operationId": "own"}}
    items = {"pathItems": {"A": {"put": {"operationId": "other"}, "delete": {}}}}

    read = document(tmp_path, {"/a": item}, components=items)

    assert [(str(one), one.operation_id) for one in read.operations] == [("PUT /a", "own"), ("DELETE /a", "")]
