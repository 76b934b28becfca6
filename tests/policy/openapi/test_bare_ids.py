"""Ids whose names do not say of what they are."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.openapi.bare_ids import bare_ids
from gateway.policy.openapi.translation import translate
from tests.policy.openapi.documents import document

INTEGER = {"type": "integer"}
NUMBERS = {"type": "array", "items": INTEGER}
TEXTS = {"type": "array", "items": {"type": "string"}}
WITH_ID = {"type": "object", "properties": {"id": INTEGER, "position": INTEGER}}
OBJECTS = {"type": "array", "items": WITH_ID}
MERGE, LINES, ORDER, REORDER = "POST /docs/{id}/merge", "POST /docs/{id}/lines", "PUT /docs/{id}", "POST /reorder"


def found(directory: Path, line: str, operation: dict[str, Any]) -> list[str]:
    method, path = line.split(" ")
    [one] = document(directory, {path: {method.lower(): operation}}).operations
    return [each.told for each in bare_ids(one, translate(path))]


def body(*required: str, **members: Any) -> dict[str, Any]:
    return having({"properties": {"note": {}, **members}, "required": list(required)})


def having(schema: Any) -> dict[str, Any]:
    return {"requestBody": {"content": {"application/json": {"schema": schema}}}}


def query(name: str, schema: Any, *, required: bool = True) -> dict[str, Any]:
    return {"parameters": [{"name": name, "in": "query", "required": required, "schema": schema}]}


@pytest.mark.parametrize(
    ("line", "operation", "told"),
    [
        (MERGE, body(ids=NUMBERS), "`ids`"),
        (MERGE, body(selectedIds=TEXTS), "`selectedIds`"),
        (MERGE, body(IDs=TEXTS), "`IDs`"),
        (MERGE, body(ids={"type": "string"}), "`ids`"),
        (MERGE, body(id=NUMBERS), "`id`"),
        (MERGE, body(items=NUMBERS), "`items`"),
        (MERGE, body(items=TEXTS), None),
        (MERGE, body(label_ids=NUMBERS), None),
        (MERGE, body(otherId=INTEGER), None),
        (MERGE, body("otherId", otherId=INTEGER), "`otherId`"),
        (MERGE, body(other=WITH_ID), "`other` with its `id`"),
        (MERGE, body(owner=WITH_ID), None),
        (MERGE, body(data=OBJECTS), "`data`, each with its id"),
        (MERGE, body(lines=OBJECTS), None),
        (MERGE, having(NUMBERS), "its body is a list"),
        (MERGE, having(OBJECTS), "its body is a list"),
        (MERGE, query("ids[]", TEXTS, required=False), "`ids[]`"),
        (MERGE, query("id", INTEGER), "`id`"),
        (MERGE, query("id", INTEGER, required=False), None),
        (REORDER, body(items=OBJECTS), "`items`, each with its id"),
        ("POST /orders", body(items=OBJECTS), None),
        ("PATCH /positions", body(items=OBJECTS), "`items`, each with its id"),
        ("POST /orders", body("id", id=INTEGER), None),
        ("POST /orders", having(OBJECTS), None),
        ("POST /favorites", body(ids=NUMBERS), "`ids`"),
        (ORDER, body("id", id=INTEGER, items=OBJECTS), None),
        (ORDER, body(ids=NUMBERS), "`ids`"),
        (LINES, body("id", id=INTEGER, items=OBJECTS), None),
        (LINES, body(ids=NUMBERS), "`ids`"),
        ("DELETE /docs/{id}/lines", body(ids=NUMBERS), None),
        ("POST /docs/{id}/status", body("id", id=INTEGER), "`id`"),
    ],
)
def test_what_is_of_others_and_of_nothing_that_is_named(
    tmp_path: Path, line: str, operation: dict[str, Any], told: str | None
) -> None:
    """What a create makes brings its own id and parts; below a thing a plural calls parts of that."""
    assert found(tmp_path, line, operation) == ([told] if told else [])
