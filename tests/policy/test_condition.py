"""Conditions: numbers are compared by value, texts as all readers see them."""

import json
from decimal import Decimal
from urllib.parse import unquote

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.condition import (
    Absent,
    Amount,
    Condition,
    FormCondition,
    HeaderCondition,
    JsonCondition,
    QueryCondition,
    Text,
    contradiction,
    first_unmet,
    parse_scalar,
)
from gateway.policy.finding import Wrong
from gateway.policy.reading.body import Body
from gateway.policy.reading.jsonbody import Pointer
from tests.policy.asking import request


@pytest.mark.parametrize(
    ("spelled", "holds"),
    [("5", True), ("5.0", True), ("50e-1", True), ("6", False), ('"5"', False), ("5.00000000000000000001", None)],
)
def test_a_number_is_compared_by_its_value(spelled: str, holds: bool | None) -> None:
    """One that a double does not hold would be another value to many readers: `ambiguous-target`."""
    condition = JsonCondition(Pointer("/n", ("n",)), frozenset({Amount(Decimal(5))}))
    asked = request("POST", "/", body=f'{{"n": {spelled}}}')

    unmet = first_unmet((condition,), asked, Body(asked))

    if holds is None:
        assert isinstance(unmet, Refused)
        assert unmet.decision is AMBIGUOUS_TARGET
    else:
        assert unmet is (None if holds else condition)


@pytest.mark.parametrize(
    ("body", "holds"),
    [("{}", True), ("7", True), ('{"n": 5}', False), ('{"n": null}', False), ('{"n": []}', False)],
)
def test_absent_is_what_is_not_there_at_all(body: str, holds: bool) -> None:
    """A null is there, and so is a list that nothing else can be compared with."""
    condition = JsonCondition(Pointer("/n", ("n",)), frozenset({Absent()}))
    asked = request("POST", "/", body=body)

    assert first_unmet((condition,), asked, Body(asked)) is (None if holds else condition)


NOTE = frozenset({"note"})
CONDITIONS: dict[str, Condition] = {
    "header": HeaderCondition("x-kind", NOTE),
    "query": QueryCondition("kind", NOTE),
    "form": FormCondition("kind", NOTE),
    "json": JsonCondition(Pointer("/kind", ("kind",)), frozenset({Text("note")})),
}


@pytest.mark.parametrize(
    ("pointer", "body", "is_told"),
    [
        ("/a/b", '{"a": {}}', True),
        ("/a/b", '{"a": 7}', True),
        ("/a/b", '{"a": "x"}', True),
        ("/a/0/b", '{"a": []}', True),
        ("/a/0/b", '{"a": [{}]}', True),
        ("/0/b", "[]", True),
        ("/a/b", '{"a": [{"b": 1}]}', False),
        ("/a/b", "[]", False),
        ("/a/0/b", '{"a": [[]]}', False),
        ("/a/0/b", '{"a": "[]"}', False),
        ("/a/b", r'{"a": "\t{\"b\":1}"}', False),
        ("/a/b", '"{}"', False),
    ],
)
def test_nothing_is_absent_behind_a_list_or_a_text_of_json(pointer: str, body: str, is_told: bool) -> None:
    """Some readers find an object's members there. A place in a list is looked for in one."""
    condition = JsonCondition(Pointer(pointer, tuple(pointer[1:].split("/"))), frozenset({Text("x")}))
    asked = request("POST", "/", body=body)

    unmet = first_unmet((condition,), asked, Body(asked))

    assert isinstance(unmet, Refused) is not is_told
    assert not isinstance(unmet, Refused) or unmet.decision is AMBIGUOUS_TARGET


HIDDEN = {"C1": "%C2%85", "no width": "%E2%80%8B", "NUL": "%00", "blank": "%20"}


@pytest.mark.parametrize(
    ("where", "hidden"),
    # The parser lets no header's value have the last two.
    [(where, hidden) for where in CONDITIONS for hidden in list(HIDDEN)[: 2 if where == "header" else None]],
)
def test_a_text_that_some_readers_see_otherwise_is_ambiguous(where: str, hidden: str) -> None:
    """Another rule would take it here, and the condition's would be meant there."""
    spelled = f"note{HIDDEN[hidden]}"
    value = unquote(spelled)
    headers = [("X-Kind", value.encode().decode("latin-1"))] if where == "header" else []
    body = json.dumps({"kind": value})
    if where == "form":
        headers, body = [("Content-Type", "application/x-www-form-urlencoded")], f"kind={spelled}"
    asked = request("POST", f"/?kind={spelled}", *headers, body=body)

    unmet = first_unmet((CONDITIONS[where],), asked, Body(asked))

    assert isinstance(unmet, Refused)
    assert unmet.decision is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    ("value", "refused"),
    [("=?utf-8?q?note?=", True), ("=?UTF-8?B?bm90ZQ==?= x", True), ("a=?b", False), ("?q==?x?y?z", False)],
)
def test_an_encoded_word_in_a_header_is_ambiguous(value: str, refused: bool) -> None:
    """CherryPy undoes it, as mail does."""
    asked = request("POST", "/", ("X-Kind", value))

    assert isinstance(first_unmet((CONDITIONS["header"],), asked, Body(asked)), Refused) is refused


def test_a_policy_cannot_ask_for_what_is_refused() -> None:
    """No request would ever be taken."""
    assert contradiction((QueryCondition("kind", NOTE),)) is None
    twins = (JsonCondition(Pointer(f"/{name}", (name,)), frozenset({Text("x")})) for name in ("dry_run", "dryRun"))
    assert contradiction(tuple(twins)) is not None
    assert contradiction((QueryCondition("kind", frozenset({"note "})),)) is not None
    assert contradiction((JsonCondition(Pointer("/kind", ("kind",)), frozenset({Text("no\0te")})),)) is not None


@pytest.mark.parametrize("value", [9007199254740993, Decimal("0.10000000000000000001"), Decimal("1e9999")])
def test_a_number_that_no_request_could_have_is_refused(value: int | Decimal) -> None:
    """The policy's author is told so, and not left with a rule that never takes anything."""
    assert isinstance(parse_scalar(value), Wrong)
    assert parse_scalar(9007199254740991) == Amount(Decimal(9007199254740991))
