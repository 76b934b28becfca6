"""Documents as frameworks and well known APIs write them: what gets a rule, what is asked, and what stays closed."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.openapi.proposal import Proposal, propose
from tests.policy.openapi.documents import document

TEXT = {"type": "string"}
INTEGER = {"type": "integer"}
EITHER = {"anyOf": [{"type": "number"}, {**TEXT, "pattern": r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$"}]}


def by(name: str, schema: Any) -> dict[str, Any]:
    return {"parameters": [{"name": name, "in": "path", "required": True, "schema": schema}]}


def body(*kinds: str, **members: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {kind: {"schema": {"properties": members}} for kind in kinds}}}


def told(one: Proposal) -> str:
    if one.closed is not None:
        return "closed"
    return "asks" if one.asks else ", ".join(one.forms.values()) or "rule"


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (INTEGER, "integer"),
        ({**TEXT, "format": "uuid"}, "uuid"),
        ({**TEXT, "format": "date"}, "date"),
        ({**TEXT, "format": "date-time"}, "asks"),
        ({"type": "boolean"}, "asks"),
        ({"type": "number"}, "asks"),
        (EITHER, "asks"),
        ({"anyOf": [INTEGER, TEXT]}, "asks"),
        ({"type": "array", "items": INTEGER}, "asks"),
        ({"oneOf": [INTEGER, {**TEXT, "enum": ["me"]}]}, "asks"),
        ({**INTEGER, "minimum": -5}, "asks"),
        ({**TEXT, "format": "ulid"}, "ulid"),
        ({**TEXT, "format": "slug"}, "asks"),
        ({**TEXT, "pattern": "^[0-9a-fA-F]{24}$"}, "asks"),
        ({**TEXT, "pattern": "^[0-9a-fA-F]+$", "minLength": 24, "maxLength": 24}, "asks"),
        (TEXT, "rule"),
    ],
    ids=[
        *("int", "UUID", "date", "datetime", "bool", "float", "Decimal", "int or str", "list of int", "int or `me`"),
        *("below 0", "ULID", "slug", "hexadecimal", "hexadecimal of a length", "str"),
    ],
)
def test_a_type_of_python_has_one_spelling_or_a_question(tmp_path: Path, schema: Any, said: str) -> None:
    """As FastAPI and others describe the parameters of a path."""
    (one,) = propose(document(tmp_path, {"/a/{x}": {"put": by("x", schema)}}), "up")

    assert told(one) == said


def test_an_item_that_its_body_names_is_the_item_of_its_path(tmp_path: Path) -> None:
    """An integer in both: one resource, whichever operation writes it."""
    paths = {
        "/pets": {"put": body("application/json", pet_id=INTEGER)},
        "/pets/{pet_id}": {"delete": by("pet_id", INTEGER)},
    }
    put, delete = propose(document(tmp_path, paths), "up")

    assert (put.resource, delete.resource) == ("up/pets/{json:/pet_id}", "up/pets/{path.pet_id}")
    assert [told(one) for one in (put, delete)] == ["integer", "integer"]


PODS = "/api/v1/namespaces/{namespace}/pods"
POD = f"{PODS}/{{name}}"
MESSAGES = "/webhooks/{id}/{token}/messages"
BY_JSON = body("application/json", id=INTEGER)


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (
            {
                PODS: {"post": {}, "delete": {}},
                POD: {"put": {}, "delete": {}},
                f"{POD}/status": {"put": {}},
                f"{POD}/scale": {"put": {}},
                f"{POD}/eviction": {"post": {}},
                f"{POD}/exec": {"post": {}},
                f"{POD}/proxy": {"put": {}},
                f"{POD}/proxy/{{path}}": {"put": {}},
            },
            {f"DELETE /up{PODS}", f"PUT /up{POD}/proxy"},
        ),
        (
            {
                "/users/@me": {"patch": {}},
                "/users/{id}": {"patch": {}},
                f"{MESSAGES}/@original": {"patch": {}, "delete": {}},
                f"{MESSAGES}/{{message_id}}": {"patch": {}, "delete": {}},
            },
            {"PATCH /up/users/@me", f"PATCH /up{MESSAGES}/@original", f"DELETE /up{MESSAGES}/@original"},
        ),
        (
            {"/files/{file_id}": {"put": {}}, "/files/{file_id}#add_shared_link": {"put": {}}},
            {"PUT /up/files/{file_id}#add_shared_link"},
        ),
        (
            {"/{a}..{b}": {"post": {}}, "/move/{a}/to/{b}": {"post": {}}, "/docs/{a}": {"put": {}}},
            {"POST /up/{a}..{b}", "POST /up/move/{a}/to/{b}"},
        ),
        (
            {
                "/pet": {"put": body("application/json", "application/xml", id=INTEGER), "post": BY_JSON},
                "/pet/{petId}": {"delete": by("petId", INTEGER)},
            },
            {"PUT /up/pet"},
        ),
    ],
    ids=["Kubernetes", "Discord", "Box", "two in one", "the pet store"],
)
def test_what_its_path_does_not_name_stays_closed(tmp_path: Path, paths: Any, said: set[str]) -> None:
    """Whatever a collection's DELETE takes, another name of an id, a fragment, two things at once."""
    every = propose(document(tmp_path, paths), "up")

    assert {one.match for one in every if one.closed is not None} == said


def test_a_part_of_an_item_is_the_items(tmp_path: Path) -> None:
    """In Kubernetes an item's status and scale are it, and so is what is done to it."""
    paths: dict[str, Any] = {POD: {"put": {}}, **{f"{POD}/{part}": {"put": {}} for part in ("status", "scale")}}
    paths |= {f"{POD}/{action}": {"post": {}} for action in ("eviction", "exec")}

    resources = {one.resource for one in propose(document(tmp_path, paths), "up")}

    assert resources == {"up/api/v1/namespaces/{path.namespace}/pods/{path.name}"}


@pytest.mark.parametrize(("path", "item", "name"), [("/pet", "/pet/{petId}", "id"), ("/user", "/user/{name}", "name")])
def test_a_create_whose_body_has_the_items_id_is_asked_about(tmp_path: Path, path: str, item: str, name: str) -> None:
    """It may write over what is there, as in the pet store's document."""
    paths = {path: {"post": body("application/json", **{name: INTEGER})}, item: {"delete": {}}}

    create, _ = propose(document(tmp_path, paths), "up")

    assert told(create) == "asks"


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        (["/users/{id}", "/admin/users/{id}", "/user/{id}"], ["rule", "asks", "rule"]),
        (["/orders/{id}", "/orders/current"], ["rule", "closed"]),
        (["/order-items/{item_id}", "/orders/{id}/items/{item_id}"], ["rule", "asks"]),
        (["/files/{slug}.{ext}"], ["closed"]),
        (["/docs/{id}", "/docs/{id}?action=publish"], ["rule", "rule"]),
    ],
    ids=["beside another's", "a name for one of them", "twice an item", "an ending", "an action in the query"],
)
def test_what_may_be_another_name_of_a_thing_is_asked_or_closed(
    tmp_path: Path, paths: list[str], said: list[str]
) -> None:
    """Rules of one path have one resource, whatever their query says."""
    every = propose(document(tmp_path, {path: {"put": {}} for path in paths}), "up")

    assert [told(one) for one in every] == said
    assert len({one.resource for one in every}) == len({path.partition("?")[0] for path in paths})


def test_a_path_with_a_server_of_its_own_stays_closed(tmp_path: Path) -> None:
    """It is another upstream's."""
    paths: dict[str, Any] = {
        "/a/{x}": {"servers": [{"url": "https://other.example/"}], "put": {}},
        "/b/{x}": {"put": {}},
    }

    assert [told(one) for one in propose(document(tmp_path, paths), "up")] == ["closed", "rule"]


def test_a_filter_names_no_resource(tmp_path: Path) -> None:
    """PostgREST writes all rows that its query finds: the table is one thing."""
    filtered = {"parameters": [{"name": "id", "in": "query", "required": True, "schema": TEXT}]}
    (one,) = propose(document(tmp_path, {"/rows": {"patch": filtered}}), "up")

    assert (told(one), one.resource) == ("rule", "up/rows")


@pytest.mark.parametrize(
    ("path", "schema", "asks"),
    [
        ("/files/{file_path}", TEXT, True),
        ("/files/{path}", TEXT, True),
        ("/files/{path+}", TEXT, False),
        ("/files/{path_id}", TEXT, False),
        ("/files/{path}", INTEGER, False),
        ("/files/{path}/lock", TEXT, False),
    ],
)
def test_a_path_in_a_path_is_asked_about(tmp_path: Path, path: str, schema: Any, asks: bool) -> None:
    """FastAPI's documents do not tell that it takes slashes; an honest request would have no rule."""
    name = path.partition("{")[2].partition("}")[0].removesuffix("+")

    put, _ = propose(document(tmp_path, {path: {"put": by(name, schema), "delete": by(name, schema)}}), "up")

    assert any("slashes in it" in one for one in put.asks) is asks


@pytest.mark.parametrize(("style", "is_closed"), [("label", True), ("matrix", True), ("simple", False)])
def test_a_value_with_a_mark_before_it_has_no_rule(tmp_path: Path, style: str, is_closed: bool) -> None:
    """No honest request would meet one: it has `/docs/.7`."""
    parameters = [{"name": "id", "in": "path", "style": style, "schema": INTEGER}]

    (one,) = propose(document(tmp_path, {"/docs/{id}": {"put": {"parameters": parameters}}}), "up")

    assert (one.closed is not None and "has a mark before its value" in one.closed) is is_closed


DOC = by("doc_id", INTEGER)
IDS = body("application/json", doc_ids={"type": "array", "items": INTEGER})
STATES = {**TEXT, "enum": ["open", "closed"]}
# Of a small app of FastAPI, and of Django REST: each line is what is said of it.
SAID = {
    "PUT /docs/{doc_id}": (DOC, "closed"),
    "PUT /v2/docs/{doc_id}": (DOC, "integer"),
    "PUT /admin/docs/{doc_id}": (DOC, "asks"),
    "POST /publish/{doc_id}": (DOC, "asks"),
    "PUT /doc/{doc_id}/title": (DOC, "integer"),
    "PUT /doc": ({"parameters": [{"name": "doc_id", "in": "query", "schema": INTEGER}]}, "closed"),
    "DELETE /users/{user_id}/docs": (by("user_id", INTEGER), "asks"),
    "POST /docs/bulk-delete": (IDS, "closed"),
    "POST /docs/purge": ({}, "asks"),
    "PUT /tenants/{tenant}/docs/{doc_id}": (
        {"parameters": [*DOC["parameters"], *by("tenant", {**TEXT, "enum": ["a", "b"]})["parameters"]]},
        "closed",
    ),
    "POST /docs/{doc_id}/transition/{to}": (
        {"parameters": [*DOC["parameters"], *by("to", STATES)["parameters"]]},
        "closed",
    ),
    "PUT /docs/{doc_id}{format}": (
        {"parameters": [*DOC["parameters"], *by("format", {**TEXT, "enum": [".json", ".api"]})["parameters"]]},
        "closed",
    ),
}


def test_the_ways_to_one_document_are_asked_about_or_closed(tmp_path: Path) -> None:
    """The newest version's has the rule, and of what is done to a document it is asked by which of the others."""
    paths: dict[str, Any] = {}
    for line, (operation, _) in SAID.items():
        method, path = line.split(" ")
        paths.setdefault(path, {})[method.lower()] = operation

    every = propose(document(tmp_path, paths), "up")

    assert {one.match.replace("/up", ""): told(one) for one in every} == {
        line: said for line, (_, said) in SAID.items()
    }
    (publish,) = [one for one in every if "/publish/" in one.match]
    assert "(or another path)" in publish.asks[0]
