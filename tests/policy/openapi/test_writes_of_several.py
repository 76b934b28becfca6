"""A library of photos: operations that write several things, and which of them a proposed policy leaves open."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.openapi.policy_text import policy_text
from tests.policy.openapi.documents import document

UUID = {"type": "string", "format": "uuid"}
UUIDS = {"type": "array", "items": UUID}
TEXT = {"type": "string"}


def having(*required: str, **members: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": members, "required": list(required)}
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


def listed(name: str) -> dict[str, Any]:
    return having(name, **{name: UUIDS})


def placed(where: str, name: str) -> dict[str, Any]:
    return {"parameters": [{"name": name, "in": where, "required": True, "schema": UUID}]}


ONE = {"put": having(note=TEXT), "delete": {}}
PATHS: dict[str, dict[str, Any]] = {
    "/assets/{id}": ONE,
    "/assets": {"put": listed("ids"), "delete": listed("ids")},
    "/assets/copy": {"put": having("sourceId", "targetId", sourceId=UUID, targetId=UUID)},
    "/assets/jobs": {"post": listed("assetIds")},
    "/stacks/{id}": ONE,
    "/stacks": {"post": listed("assetIds"), "delete": listed("ids")},
    "/albums/{id}": ONE,
    "/albums/assets": {"put": having("albumIds", "assetIds", albumIds=UUIDS, assetIds=UUIDS)},
    "/albums/{id}/assets": {"put": listed("ids"), "delete": listed("ids")},
    "/albums/{id}/user/{userId}": {"put": having("role", role=TEXT)},
    "/tags/{id}": ONE,
    "/tags/assets": {"put": having("assetIds", "tagIds", assetIds=UUIDS, tagIds=UUIDS)},
    "/tags/{id}/assets": {"put": listed("ids")},
    "/memories/{id}/assets": {"put": listed("ids")},
    "/shared-links/{id}/assets": {"put": listed("assetIds")},
    "/activities": {"post": having("albumId", albumId=UUID, note=TEXT)},
    "/faces/{id}": {"put": having("id", id=UUID)},
    "/assets/{id}/merge": {"post": listed("assetIds")},
    "/stacks/{id}/merge": {"post": having("sourceId", sourceId=UUID)},
    "/assets/{id}/swap/{other}": {"post": {}},
    "/bulk": {"patch": having(assets={"type": "array", "items": {"type": "object", "properties": {"id": UUID}}})},
    "/archive": {"post": {"requestBody": {"content": {"application/json": {"schema": {
        "type": "array", "items": {"type": "object", "properties": {"asset_id": UUID}, "required": ["asset_id"]}
    }}}}}},
    "/ban": {"post": {"requestBody": {"content": {"application/json": {"schema": {
        "oneOf": [{"properties": {"asset_id": UUID}, "required": ["asset_id"]}, {"properties": {"note": TEXT}}]
    }}}}}},
    "/asset": {"put": placed("query", "id") | having(note=TEXT)},
    "/current/archive": {"post": placed("header", "X-Asset-Id")},
}  # fmt: skip
CLOSED = [
    *("PUT /assets", "DELETE /assets", "PUT /assets/copy", "DELETE /stacks", "PUT /albums/assets", "PUT /tags/assets"),
    *("POST /assets/{id}/swap/{other}", "PATCH /bulk"),
]
ASKED = [
    *("POST /stacks", "POST /assets/jobs", "POST /activities", "PUT /albums/{id}/assets", "DELETE /albums/{id}/assets"),
    *("PUT /tags/{id}/assets", "PUT /memories/{id}/assets", "PUT /shared-links/{id}/assets", "PUT /faces/{id}"),
    *("PUT /albums/{id}/user/{userId}", "POST /assets/{id}/merge", "POST /stacks/{id}/merge", "POST /archive"),
    *("POST /ban", "PUT /asset", "POST /current/archive"),
]
PLAIN = ["PUT /assets/{id}", "DELETE /stacks/{id}", "PUT /tags/{id}"]


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    directory: Path = tmp_path_factory.mktemp("photos")
    return list(policy_text(document(directory, PATHS, names_all=True), "a.json", "up").open)


def of(questions: list[str], line: str) -> list[str]:
    """Those that name the operation, alone or among others."""
    return [one for one in questions if any(f"{line}{end}" in one for end in (")", " (", ",", "?"))]


@pytest.mark.parametrize("line", CLOSED)
def test_what_writes_several_and_names_none_in_its_path_stays_closed(questions: list[str], line: str) -> None:
    """Each of them has a holder of its own."""
    assert any("no rule: " in one for one in of(questions, line)), questions


@pytest.mark.parametrize("line", ASKED)
def test_what_may_write_what_another_path_names_is_asked_about(questions: list[str], line: str) -> None:
    """It has a rule, and a question."""
    found = of(questions, line)

    assert found, questions
    assert not any("no rule: " in one for one in found)


@pytest.mark.parametrize("line", PLAIN)
def test_what_writes_one_is_not(questions: list[str], line: str) -> None:
    """Its path says which."""
    assert of(questions, line) == []
