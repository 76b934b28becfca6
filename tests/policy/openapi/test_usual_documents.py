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
        ({**TEXT, "format": "date"}, "asks"),
        ({**TEXT, "format": "date-time"}, "asks"),
        ({"type": "boolean"}, "asks"),
        ({"type": "number"}, "asks"),
        (EITHER, "asks"),
        ({"anyOf": [INTEGER, TEXT]}, "asks"),
        ({"type": "array", "items": INTEGER}, "asks"),
        (TEXT, "rule"),
    ],
    ids=["int", "UUID", "date", "datetime", "bool", "float", "Decimal", "int or str", "list of int", "str"],
)
def test_a_type_of_python_has_one_spelling_or_a_question(tmp_path: Path, schema: Any, said: str) -> None:
    """As FastAPI describes the parameters of a path."""
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
