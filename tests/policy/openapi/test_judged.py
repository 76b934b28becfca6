"""Requests before a policy that was imported with the lists of its document: as a framework describes its types."""

import json
from pathlib import Path
from typing import Any

import pytest

from gateway.core.caller import NOBODY
from gateway.policy.openapi.policy_text import policy_text
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import request
from tests.policy.openapi.documents import document
from tests.policy.openapi.test_policy_text import loaded

TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
LEVEL = {"type": "integer", "enum": [1, 2]}
KIND = {"type": "string", "enum": ["soft", "hard"]}


def an_object(**members: Any) -> dict[str, Any]:
    return {"type": "object", "properties": members}


def at(name: str, schema: Any, **more: Any) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": schema, **more}


def op(*parameters: dict[str, Any], body: Any = None) -> dict[str, Any]:
    said = {} if body is None else {"requestBody": {"content": {"application/json": {"schema": body}}}}
    return {"parameters": list(parameters), **said}


PATHS = {
    "/docs/{id}": {
        "put": op(
            at("id", INTEGER),
            {"name": "dry", "in": "query", "schema": {"type": "boolean"}},
            {"name": "X-Mode", "in": "header", "schema": KIND},
            body=an_object(
                kind={"anyOf": [KIND, {"type": "null"}]},
                mode={"oneOf": [{"const": "a"}, {"const": "b"}]},
                tags={"type": "array", "items": KIND},
                subs={"type": "array", "items": an_object(level={"allOf": [LEVEL]})},
            ),
        )
    },
    "/levels/{l}": {"put": op(at("l", LEVEL))},
    "/days/{d}": {"put": op(at("d", TEXT | {"format": "date"}))},
    "/pets/{p}": {
        "post": op(
            at("p", INTEGER),
            body={
                "oneOf": [
                    an_object(type={"const": "cat"}, age=INTEGER),
                    an_object(type={"const": "dog"}, name=TEXT),
                ]
            },
        )
    },
    "/kept/x-{id}": {"put": op(at("id", INTEGER))},
    "/matrix/{id}": {"put": op(at("id", INTEGER, style="matrix"))},
    "/label/{id}": {"put": op(at("id", INTEGER, style="label"))},
    "/own/{id}": {"put": op(at("id", INTEGER)) | {"servers": [{"url": "https://other.example"}]}},
    "/act#Action=Purge": {"post": op()},
    "/herd?action=purge": {"post": op()},
}


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    directory: Path = tmp_path_factory.mktemp("judged")
    return loaded(policy_text(document(directory, PATHS, names_all=True), "a.json", "up").text)


@pytest.mark.parametrize(
    ("target", "decision"),
    [
        *((f"/docs/{id}", "ambiguous-target") for id in ("07", "7.0", "1_0", "+7", "%D9%A7")),
        *((f"/levels/{level}", "ambiguous-target") for level in ("01", "1.0", "one", "-1")),
        *((f"/days/{day}", "ambiguous-target") for day in ("1767571200", "20260105", "2026-01-05T00:00", "2026-1-5")),
        *((target, "forwarded") for target in ("/docs/7", "/docs/7?dry=true", "/levels/2", "/days/2026-01-05")),
        *((f"/docs/7?{more}", "no-policy") for more in ("Dry=true", "dry[]=true", "purge=1")),
        *((target, "no-policy") for target in ("/matrix/7", "/label/.7", "/label/7", "/own/7")),
    ],
)
def test_an_id_has_the_form_of_its_type(ruleset: RuleSet, target: str, decision: str) -> None:
    """In one spelling; what a policy cannot say of a path stays closed."""
    assert answer(ruleset, request("PUT", f"/up{target}"), NOBODY).decision == decision


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        *(({"kind": value}, "forwarded") for value in ("soft", "hard", None)),
        *(({"kind": value}, "no-policy") for value in ("SOFT", "soft ", "", 0, ["soft"], {"soft": None})),
        *(({"mode": value}, "forwarded") for value in ("a", "b")),
        *(({"mode": value}, "no-policy") for value in ("A", "c", None, ["a"])),
        *(({"tags": value}, "forwarded") for value in ([], ["soft"], ["soft", "hard"])),
        *(({"tags": value}, "no-policy") for value in ("soft", ["SOFT"], [["soft"]], ["soft", None])),
        *(({"subs": [{"level": value}]}, "forwarded") for value in (1, 2.0)),
        *(({"subs": [{"level": value}]}, "no-policy") for value in ("2", 3, True, None, [1])),
        *((body, "no-policy") for body in ({"Kind": "soft"}, {"purge": 1}, {"subs": [{"purge": 1}]}, [], "soft")),
    ],
    ids=json.dumps,
)
def test_a_member_has_the_values_of_its_type(ruleset: RuleSet, body: object, decision: str) -> None:
    """By type and by spelling, in alternatives and lists too."""
    asked = request("PUT", "/up/docs/7", body=json.dumps(body))

    assert answer(ruleset, asked, NOBODY).decision == decision


@pytest.mark.parametrize(
    ("name", "value", "decision"),
    [
        *(("X-Mode", value, "forwarded") for value in ("soft", "hard")),
        *(("X-Mode", value, "no-policy") for value in ("SOFT", "soft, hard", "", "purge")),
        ("X-Purge", "1", "no-policy"),
    ],
)
def test_a_header_has_the_values_of_its_type(ruleset: RuleSet, name: str, value: str, decision: str) -> None:
    """And no other header is there."""
    asked = request("PUT", "/up/docs/7", (name, value), body="{}")

    assert answer(ruleset, asked, NOBODY).decision == decision


@pytest.mark.parametrize(
    ("body", "decision"),
    [
        ({"type": "dog", "name": "a"}, "forwarded"),
        ({"type": "cat", "age": 7}, "forwarded"),
        *(({"type": value, "name": "a"}, "no-policy") for value in ("Dog", "DOG", "bird", ["dog"])),
        ({"type": "dog", "purge": True}, "no-policy"),
    ],
    ids=json.dumps,
)
def test_a_union_is_told_by_one_of_its_words(ruleset: RuleSet, body: object, decision: str) -> None:
    """As its document spells it."""
    asked = request("POST", "/up/pets/7", body=json.dumps(body))

    assert answer(ruleset, asked, NOBODY).decision == decision


@pytest.mark.parametrize(
    ("target", "decision"),
    [
        ("/herd?action=purge", "forwarded"),
        ("/herd", "no-policy"),
        *((f"/herd?action={value}", "ambiguous-target") for value in ("Purge", "purge%20")),
        *((target, "no-policy") for target in ("/herd?action=feed", "/act", "/act?Action=Purge")),
    ],
)
def test_a_query_in_a_path_is_a_condition(ruleset: RuleSet, target: str, decision: str) -> None:
    """What stands behind a number sign is none, and closed."""
    assert answer(ruleset, request("POST", f"/up{target}"), NOBODY).decision == decision


@pytest.mark.parametrize("method", ["QUERY", "PURGE", "LINK"])
def test_another_method_has_no_rule(ruleset: RuleSet, method: str) -> None:
    """Whatever the path."""
    assert answer(ruleset, request(method, "/up/docs/7"), NOBODY).decision == "no-policy"
