"""Writes whose path names the one end, and whose query or body the other."""

from pathlib import Path
from typing import Any

import pytest

from gateway.policy.openapi.policy_text import policy_text
from tests.policy.openapi.documents import document

INTEGER = {"type": "integer"}
ENUM = {"type": "string", "enum": ["branch", "tag"]}
LIST = {"type": "array", "items": {"type": "string"}}


def asked(directory: Path, paths: Any) -> list[str]:
    """The questions about a second end, each by its rule and the name."""
    told = [line for line in policy_text(document(directory, paths), "a.json", "up").open if "write that too" in line]
    return [f"{line.partition(' (')[0]} {line.split('`')[1]}" for line in told]


def body(members: dict[str, Any], *required: str) -> dict[str, Any]:
    schema = {"properties": members, "required": list(required)}
    return {"operationId": "it", "requestBody": {"content": {"application/json": {"schema": schema}}}}


def query(**members: Any) -> dict[str, Any]:
    listed = [{"name": name, "in": "query", "schema": schema} for name, schema in members.items()]
    return {"operationId": "it", "parameters": listed}


FACES = {"type": "array", "items": {"type": "object", "properties": {"personId": INTEGER}}}
IN_DATA = body({"data": {"properties": {"user": {}}}})


@pytest.mark.parametrize(
    ("line", "operation", "name"),
    [
        ("POST /accounts/{from_id}/pay", body({"to_account_id": INTEGER, "amount": INTEGER}), "to_account_id"),
        ("POST /accounts/{id}/pay", body({"to": {}}), "to"),
        ("POST /items/{id}/move", query(to=INTEGER), "to"),
        ("DELETE /versions/{id}", query(moveIssuesTo={}), "moveIssuesTo"),
        ("PUT /files/{id}", body({"destinationFolderId": {}}), "destinationFolderId"),
        ("PATCH /files/{id}", body({"target_file": {}}), "target_file"),
        ("PATCH /files/{id}", body({"destination": {}}), "destination"),
        ("POST /customers/{id}/merge", body({"source_customer_id": {}}), "source_customer_id"),
        ("POST /users/{id}/block", body({"userId": {}}, "userId"), "userId"),
        ("POST /issues/{n}/blocked_by", body({"other_issue_id": {}}, "other_issue_id"), "other_issue_id"),
        ("POST /sections/{id}/addTask", body({"task": {}, "insert_before": {}}), "task"),
        ("POST /tasks/{id}/add-dependents", body({"dependents": LIST}), "dependents"),
        ("POST /tasks/{id}/setParent", body({"parent_id": INTEGER}), "parent_id"),
        ("POST /teams/{id}/removeUser", IN_DATA, "user"),
        ("PUT /docs/{id}/children", body({"children": {"type": "array", "items": INTEGER}}), "children"),
        ("PUT /docs/{id}/parent", body({"parentId": INTEGER}), "parentId"),
        ("PUT /docs/{id}/contact", body({"contact": {"type": "object"}}), None),
        ("PUT /people/{id}/reassign", body({"data": FACES}), "personId"),
        ("PUT /people/{personId}/reassign", body({"data": FACES}), "personId"),
        ("PUT /people/{id}", body({"data": FACES, "name": {}}), None),
        ("POST /docs/{id}/merge", body({"ids": LIST}), "ids"),
        ("POST /docs/{id}/merge", body({"with": INTEGER}), "with"),
        ("POST /docs/{id}/merge", query(**{"with": {}}), None),
        ("POST /tasks/{id}/setStatus", body({"status": ENUM}), None),
        ("POST /tasks/{id}/tasks", body({"task": {}}), None),
        ("POST /transfers", body({"from_account_id": {}, "to_account_id": {}}), "to_account_id"),
        ("POST /transfers", body({"to_account_id": {}}), None),
        ("POST /mails", body({"from": {}, "to": {}}), None),
        ("POST /mailboxes/{id}/messages", body({"to": {"type": "array", "items": {"type": "string"}}}), None),
        ("POST /messages/{id}/reply", body({"in_reply_to_id": INTEGER}), None),
        ("DELETE /events/{id}", query(**{"from": {}, "to": {}}), None),
        ("PUT /events/{id}", body({"to_date": {}, "to": {"type": "string", "format": "date"}}), None),
        ("PUT /rules/{id}", body({"target": ENUM, "target_url": {}, "target_type": {}}), None),
        ("PATCH /issues/{id}", body({"assigned_to": {}, "user_id": {}, "parent_issue_id": {}}), None),
        ("PATCH /accounts/{account_id}", body({"accountId": {}}, "accountId"), None),
        ("POST /files/search", body({"target_file": {}}), None),
    ],
)
def test_another_end_is_asked_about(tmp_path: Path, line: str, operation: dict[str, Any], name: str | None) -> None:
    """What is only said of a thing, of a message or of a time is none."""
    method, path = line.split(" ")

    assert asked(tmp_path, {path: {method.lower(): operation}}) == ([f"it {name}"] if name else [])


def test_it_is_asked_once_of_a_thing(tmp_path: Path) -> None:
    """At its first rule."""
    operation = body({"target_id": {}, "destination": {}})
    paths = {"/a/{id}": {"put": operation, "patch": operation}, "/a/{x}/b": {"post": operation}, "/c/{id}": {}}

    assert asked(tmp_path, {**paths, "/c/{id}": {"put": operation}}) == ["it target_id", "it-4 target_id"]


def test_ids_without_a_name_are_asked_about_at_each_path_that_takes_them(tmp_path: Path) -> None:
    """They may be of other things there. Where the path is asked about already, that is enough."""
    ids = body({"ids": LIST})
    paths = {
        "/docs/{id}": {"put": {}},
        "/docs/{id}/merge": {"post": ids, "put": ids},
        "/docs/{id}/swap": {"post": ids},
        "/users/{id}/docs": {"put": ids},
    }

    assert asked(tmp_path, paths) == ["it ids", "it-3 ids"]
