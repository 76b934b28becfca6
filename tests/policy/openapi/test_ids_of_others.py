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
        ({"/users/{id}": {"put": {}}, "/ban": {"post": body("id")}}, True),
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
        "of anything",
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


UUID = {"type": "string", "format": "uuid"}
PEOPLE: dict[str, Any] = {"/people/{id}": {"put": {}}, "/statuses/{id}": {"put": {}}, "/companies/{id}": {"put": {}}}

UUIDS = {"type": "array", "items": UUID}


def having(schema: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


def objects(member: str, *names: str) -> dict[str, Any]:
    items = {"type": "object", "properties": dict.fromkeys(names, UUID)}
    return having({"properties": {member: {"type": "array", "items": items}, "note": {}}})


def place(where: str, name: str, **more: Any) -> dict[str, Any]:
    return {"parameters": [{"name": name, "in": where, **more}]}


@pytest.mark.parametrize(
    ("line", "operation", "thing"),
    [
        ("POST /reassign", body("personId"), "people"),
        ("POST /boost", body("status_id"), "statuses"),
        ("POST /close", listing("companies", "integer"), "companies"),
        ("POST /close", having({"properties": {"companies": UUIDS}, "required": ["companies"]}), "companies"),
        ("POST /close", body("company_ids"), "companies"),
        ("POST /publish", place("cookie", "person_id"), "people"),
        ("POST /publish", place("header", "X-Person-Id"), "people"),
        ("POST /publish", place("header", "X-Trace-Id"), None),
        ("PUT /reassign", objects("data", "note_id", "personId"), "people"),
        ("PUT /reassign", objects("faces", "person_id"), "people"),
        ("PUT /reassign", objects("faces", "person"), None),
        ("PATCH /reorder", objects("people", "id"), "people"),
        ("PATCH /reorder", objects("people", "uuid"), "people"),
        ("PATCH /reorder", objects("people", "name"), None),
        ("POST /people/{id}/faces", objects("faces", "person_id"), None),
        ("POST /faces/{id}/people", listing("personIds", "integer"), "people"),
        ("POST /faces/{id}/people", objects("people", "id"), "people"),
        ("PATCH /reorder/{id}", objects("parts", "id"), None),
        ("POST /faces/{id}/people", body("personId"), None),
        ("PUT /faces/{id}/people", listing("personIds", "integer"), None),
        ("POST /reassign", having({"type": "array", "items": {"properties": {"personId": UUID}}}), "people"),
    ],
)
def test_names_of_one_and_of_several_are_told_as_far_as_english_goes(
    tmp_path: Path, line: str, operation: dict[str, Any], thing: str | None
) -> None:
    """In a body, in its lists of numbers, of UUIDs and of objects, in a header and in a cookie."""
    method, path = line.split(" ")
    found = asked(tmp_path, {**PEOPLE, path: {method.lower(): operation}})

    wanted = [] if thing is None else [f"does it write what `/{thing}/{{id}}`"]
    assert [one.partition("): ")[2].partition(" writes?")[0] for one in found] == wanted


@pytest.mark.parametrize(
    ("line", "operation", "written"),
    [
        ("POST /restore", body("ids"), "`/people/{id}` or another path"),
        ("POST /trash/restore/people", body("ids"), "`/people/{id}`"),
        ("POST /restore-statuses/now", body("ids"), "`/people/{id}` or another path"),
        ("POST /archive", having({"type": "array", "items": {"type": "integer"}}), "`/people/{id}` or another path"),
        ("POST /archive", query("id"), "`/people/{id}` or another path"),
        ("POST /archive", query("id", required=False), None),
        ("POST /people/archive", body("ids"), None),
        ("POST /notes", body("id"), None),
        ("DELETE /notes", body("ids"), "`/people/{id}` or another path"),
        ("POST /notes/search", body("ids"), None),
    ],
)
def test_ids_that_are_called_as_nothing_may_be_of_anything(
    tmp_path: Path, line: str, operation: dict[str, Any], written: str | None
) -> None:
    """The path may tell of what they are; where it is asked already if it writes that, no more is asked."""
    method, path = line.split(" ")
    found = asked(tmp_path, {**PEOPLE, path: {method.lower(): operation}})

    assert [f"does it write what {written} writes?" in one for one in found] == ([True] if written else [])


def test_where_no_path_names_one_thing_nothing_is_asked(tmp_path: Path) -> None:
    """There is no other fence."""
    assert asked(tmp_path, {"/people": {"post": {}}, "/restore": {"post": body("ids")}}) == []


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
