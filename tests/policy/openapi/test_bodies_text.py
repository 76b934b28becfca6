"""The types of bodies that a document names are all that the proposed policy takes."""

from pathlib import Path
from typing import Any

import pytest

from gateway.core.caller import NOBODY
from gateway.core.decision import Refused
from gateway.policy.load import load_policies
from gateway.policy.openapi.bodies_text import listed_bodies
from gateway.policy.openapi.policy_text import policy_text
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import request
from tests.policy.openapi.documents import document

JSON, FORM, MULTIPART = "application/json", "application/x-www-form-urlencoded", "multipart/form-data"


def body(*types: str) -> dict[str, Any]:
    return {"requestBody": {"content": {one: {} for one in types}}}


def proposed(directory: Path, *operations: dict[str, Any]) -> str:
    paths = {f"/things{at}": {"post": operation} for at, operation in enumerate(operations)}
    return policy_text(document(directory, paths), "a.json", "up").text


@pytest.mark.parametrize(
    ("operations", "listed"),
    [
        ([body(JSON)], ("json",)),
        ([body(JSON), {}], ("json",)),
        ([body("Application/JSON; charset=utf-8")], ("json",)),
        ([body(MULTIPART), body(FORM), body(JSON)], ("json", "form", "multipart")),
        ([body("text/csv", "image/png"), body(JSON)], ("json", "image/png", "text/csv")),
        ([body(JSON, "text/json", "application/*+json")], ("json",)),
        ([body("application/merge-patch+json")], ("json",)),
        ([{}], None),
        ([body("*/*")], "POST /things0 takes bodies of `*/*`"),
        ([body(JSON), body("image/*")], "POST /things1 takes bodies of `image/*`"),
        ([body("text/json"), body("application/*+json")], "POST /things1 takes bodies of `application/*+json`"),
        ([body()], "the document does not say which type of body POST /things0 takes"),
        ([{"requestBody": {"$ref": "#/gone"}}], "the document does not say which type of body POST /things0 takes"),
        ([body(*(f"text/x{at}" for at in range(13)))], "the document names 13 types of bodies"),
    ],
)
def test_all_types_of_all_operations(
    tmp_path: Path, operations: list[dict[str, Any]], listed: tuple[str, ...] | str | None
) -> None:
    """Where one is not told, there is no list, and the reason is told. A document without bodies says nothing."""
    paths = {f"/things{at}": {"post": operation} for at, operation in enumerate(operations)}
    read = document(tmp_path, paths).operations
    json_types = {name for each in read for name in each.json_types}

    assert listed_bodies(read, json_types) == listed


def test_the_policy_takes_these_and_no_others(tmp_path: Path) -> None:
    """What `+json` stands for is in `json_types`."""
    text = proposed(tmp_path, body(JSON, "application/vnd.api+json"), body("text/csv"))

    assert "# The types of bodies that the document names: one of another type is refused.\nmount: {" in text
    assert "bodies: [json, text/csv]}" in text
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "a.yaml").write_text(text)
    rules = load_policies(tmp_path / "policies", {})
    assert isinstance(rules, RuleSet)
    kinds = (JSON, "application/vnd.api+json", "text/csv", "text/plain", f"{MULTIPART}; boundary=B")
    sent = [request("POST", "/up/things0", ("Content-Type", kind), ("Content-Length", "2")) for kind in kinds]
    assert [isinstance(rules.match(one, NOBODY), Refused) for one in sent] == [False, False, False, True, True]


def test_a_comment_says_why_any_body_is_taken(tmp_path: Path) -> None:
    """And what to write."""
    text = proposed(tmp_path, body("*/*"))

    told = "# Any body is taken: POST /things0 takes bodies of `*/*`. Of an API of JSON alone say `bodies: [json]`.\n"
    assert told + "mount: {path: /up, strip: true}\n" in text
