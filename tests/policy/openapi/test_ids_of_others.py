"""Ids in queries and bodies that are called as another path's placeholder."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.openapi.policy_text import policy_text
from tests.policy.openapi.documents import document

USER: dict[str, Any] = {"/users/{user_id}": {"put": {}}}


def query(*names: str, required: bool = True) -> dict[str, Any]:
    return {"parameters": [{"name": name, "in": "query", "required": required} for name in names]}


def body(*names: str, required: bool = True) -> dict[str, Any]:
    schema = {"properties": {name: {} for name in names}, "required": list(names) if required else []}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


def listing(name: str, of_items: str, place: str = "body") -> dict[str, Any]:
    schema = {"type": "array", "items": {"type": of_items}}
    if place == "query":
        return {"parameters": [{"name": name, "in": "query", "required": True, "schema": schema}]}
    members = {"properties": {name: schema}, "required": [name]}
    return {"requestBody": {"content": {"application/json": {"schema": members}}}}


def asked(directory: Path, paths: Any) -> list[str]:
    told = policy_text(document(directory, paths), "a.json", "up").open
    return [line for line in told if line.startswith("what the path does not name")]


@pytest.mark.parametrize(
    ("paths", "is_asked"),
    [
        ({**USER, "/ban": {"post": body("user_id")}}, True),
        ({**USER, "/ban": {"post": body("userId")}}, True),
        ({**USER, "/profile": {"put": query("user_id")}}, True),
        ({**USER, "/ban": {"post": body("user_id", required=False)}}, False),
        ({**USER, "/profile": {"put": query("user_id", required=False)}}, False),
        ({**USER, "/users/{user_id}/ban": {"post": body("user_id")}}, False),
        ({"/users/{id}": {"put": {}}, "/ban": {"post": body("id")}}, False),
        ({"/users/{id}": {"put": {}}, "/ban": {"post": body("user_id")}}, True),
        ({"/users/{id}": {"put": {}}, "/ban": {"post": query("userId")}}, True),
        ({"/users/{id}": {"put": {}}, "/users/{id}/ban": {"post": body("user_id")}}, False),
        ({"/files/{path}": {"put": {}}, "/ban": {"post": body("path")}}, False),
        ({"/users/{user_id}": {"get": {}}, "/ban": {"post": body("user_id")}}, False),
        ({**USER, "/bans/search": {"post": body("user_id")}}, False),
        ({**USER, "/ban": {"post": listing("user_ids", "integer")}}, True),
        ({**USER, "/ban": {"post": listing("userIds", "string")}}, True),
        ({**USER, "/ban": {"post": listing("users", "integer", "query")}}, True),
        ({**USER, "/ban": {"post": listing("users", "string")}}, False),
    ],
    ids=[
        "in the body",
        "spelled otherwise",
        "in the query",
        "left out at will",
        "left out of the query",
        "in the path too",
        "any id",
        "called as a collection",
        "so in the query",
        "of the path's own",
        "a name of many things",
        "what nothing writes",
        "a likely read",
        "several ids",
        "several texts",
        "several numbers",
        "names of several",
    ],
)
def test_an_id_that_another_path_has(tmp_path: Path, paths: Any, is_asked: bool) -> None:
    """It is asked whether what that path names is written."""
    assert bool(asked(tmp_path, paths)) is is_asked


def test_each_name_is_one_question(tmp_path: Path) -> None:
    """With all its operations."""
    [question] = asked(tmp_path, {**USER, "/ban": {"post": body("user_id")}, "/profile": {"put": query("user_id")}})

    assert "but POST /ban (`user_id`), PUT /profile (`user_id`): does it write what `/users/{user_id}`" in question


def test_what_is_named_by_the_body_already_is_not_asked_about(tmp_path: Path) -> None:
    """Its resource is that of the path with the id."""
    integer = {"type": "integer"}
    named = {"name": "user_id", "in": "path", "schema": integer}
    schema = {"properties": {"user_id": integer}, "required": ["user_id"]}
    whole = {"requestBody": {"content": {"application/json": {"schema": schema}}}}

    assert not asked(tmp_path, {"/users": {"put": whole}, "/users/{user_id}": {"put": {"parameters": [named]}}})


@pytest.mark.parametrize(
    ("path", "member", "is_asked"),
    [
        ("/users/{user_id}", "user", True),
        ("/users/{id}", "user", True),
        ("/user-groups/{id}", "userGroup", True),
        ("/users/{id}", "owner", False),
        ("/other/{id}", "user", False),
    ],
)
def test_an_object_may_name_what_another_path_has(tmp_path: Path, path: str, member: str, *, is_asked: bool) -> None:
    """Jupyter ends the kernel of a session with it: `{"kernel": {"id": ...}}` beside `/kernels/{kernel_id}`. It may be
    left out: an object is there to be looked up."""

    def having(*names: str) -> dict[str, Any]:
        schema = {"properties": {member: {"properties": {name: {} for name in names}}, "title": {}}}
        return {"patch": {"requestBody": {"content": {"application/json": {"schema": schema}}}}}

    found = asked(tmp_path, {path: {"put": {}}, "/sessions/{id}": having("id", "name")})

    assert [f"(`{member}` with its `id`): does it write what `{path}` writes?" in one for one in found] == (
        [True] if is_asked else []
    )
    assert asked(tmp_path, {path: {"put": {}}, "/sessions/{id}": having("name")}) == []
