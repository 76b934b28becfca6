"""Members of a JSON object that say something of others."""

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.finding import Wrong
from gateway.policy.reading.jsonbody import MISSING, JsonReader, parse_pointer
from gateway.policy.reading.stand_in import is_operator, is_reference, operated_in


def found(pointer: str, body: str) -> object:
    compiled = parse_pointer(pointer)
    assert not isinstance(compiled, Wrong)
    told = JsonReader(body.encode()).find(compiled)
    return told.decision if isinstance(told, Refused) else told


@pytest.mark.parametrize("operator", ["$set", "$unset", "$inc", "$setOnInsert"])
@pytest.mark.parametrize("named", ["owner", "Owner", "owner.name", "owner[0]"])
def test_what_an_operator_names_is_a_twin(operator: str, named: str) -> None:
    """Mongoose takes a body for an update, with operators of MongoDB in it."""
    assert found("/owner", f'{{"owner": "7", "{operator}": {{"{named}": "8"}}}}') is AMBIGUOUS_TARGET
    assert found("/doc/owner", f'{{"doc": {{"{operator}": {{"{named}": "8"}}}}}}') is AMBIGUOUS_TARGET
    assert found("/owner/id", f'{{"{operator}": {{"{named}": "8"}}}}') is (
        AMBIGUOUS_TARGET if named in ("owner", "Owner") else MISSING
    )


def test_what_a_renaming_operator_makes_is_a_twin() -> None:
    """MongoDB writes what its values name."""
    assert found("/owner", '{"$rename": {"title": "owner"}}') is AMBIGUOUS_TARGET
    assert found("/owner", '{"$rename": {"owner": "x"}}') is AMBIGUOUS_TARGET
    assert found("/owner", '{"$rename": {"title": "x\\u0000", "y": 1}}') is MISSING


@pytest.mark.parametrize(
    "other", ['"$set": {"title": 1}', '"$set": "owner"', '"$or": [{"owner": 1}]', '"$defs": {"owner": {}}']
)
def test_an_operator_that_names_another_member_makes_no_doubt(other: str) -> None:
    """A schema's definitions are none."""
    assert found("/owner", f'{{"owner": "7", {other}}}') == "7"
    assert found("/$set/owner", '{"$set": {"owner": "7"}}') == "7"


@pytest.mark.parametrize("more", ["", ', "id": "7"'], ids=["alone", "beside"])
def test_an_object_that_refers_to_another_leads_nowhere(more: str) -> None:
    """To fastjson and Json.NET it is the other one."""
    assert found("/doc/id", f'{{"a": {{"id": "8"}}, "doc": {{"$ref": "$.a"{more}}}}}') is AMBIGUOUS_TARGET
    assert found("/doc/x/id", f'{{"doc": {{"$ref": "$.a"{more}}}}}') is AMBIGUOUS_TARGET


@pytest.mark.parametrize(
    "beside", ['"$ref": "#/$defs/x"', '"x": {"$ref": "#/x"}', '"y": [{"$ref": "#/x"}]', '"doc": {"$ref": 7, "id": "8"}']
)
def test_a_reference_beside_the_way_makes_no_doubt(beside: str) -> None:
    """A schema has many. What the policy itself names beside one is a member of what MongoDB calls a reference."""
    assert found("/id", f'{{"id": "7", {beside}}}') == "7"
    assert found("/name", f"{{{beside}}}") is MISSING
    assert found("/author/$id", '{"author": {"$ref": "users", "$id": "7"}}') == "7"


@pytest.mark.parametrize(
    ("meta", "is_remade"),
    [
        *(('{"values": {"id": ["undefined"]}}', True), ('{"values": {"doc": ["undefined"]}}', True)),
        *(('{"values": {"doc.id": ["bigint"]}}', True), ('{"values": ["undefined"]}', True)),
        *(('{"values": {"doc\\\\.id": ["Date"]}}', True), ('{"referentialEqualities": {"x": ["id"]}}', True)),
        *(('{"values": {"due": ["Date"], "doc.due-date": ["Date"], "idx": ["Date"]}, "v": 1}', False), ("{}", False)),
        *(('{"values": {"": ["undefined"]}}', True), ('{"values": {".id": ["undefined"]}}', True)),
        *(('{"values": {"due": ["Date"], "i\\\\d": ["Date"]}}', True), ('{"values": {"id": "undefined"}}', True)),
        *(('{"values": {"id": [["typed-array", "Uint8Array"]]}}', True), ('{"values": {"id": ["number"]}}', True)),
        *(('{"values": [["undefined"], {"id": ["Date"]}]}', True), ('{"v": 1, "values": {"id": ["Date"]}}', True)),
        *(('{"referentialEqualities": [["id"]]}', True), ('{"referentialEqualities": [["x"], {"y": ["id"]}]}', True)),
        # Of a list superjson makes nothing, and oRPC has other words for it.
        *(('[{"values": {"id": ["undefined"]}}]', False), ('[[3, "id"]]', False), ('[[1, "due"]]', False)),
        *(('{"values": {}, "referentialEqualities": {}}', False), ("null", False), ('"values"', False)),
    ],
)
def test_what_is_said_beside_json_may_remake_it(meta: str, *, is_remade: bool) -> None:
    """Superjson takes members away, makes other values of them, and lays one over another."""
    body = f'{{"json": {{"id": "7", "doc": {{"id": "7"}}}}, "meta": {meta}}}'

    at_top = {found("/json/id", body), found("/json/doc/id", body)}
    within = {found("/call/json/id", f'{{"call": {body}}}'), found("/call/json/doc/id", f'{{"call": {body}}}')}

    assert (AMBIGUOUS_TARGET in at_top) is is_remade
    assert at_top == within
    by_blitz = f'{{"params": {{"id": "7", "doc": {{"id": "7"}}}}, "meta": {{"params": {meta}}}}}'
    assert {found("/params/id", by_blitz), found("/params/doc/id", by_blitz)} == at_top
    assert found("/other/id", f'{{"other": {{"id": "7"}}, "meta": {meta}}}') == "7"


def test_operators_and_references_are_told_by_their_names() -> None:
    """And by what stands there: an operator has an object, a reference a text."""
    operated = operated_in({"$set": {"a": 1}, "$rename": {"b": "c"}, "$x": 1, "y": {"a": 1}, "$defs": {"a": 1}})

    assert [(one.operator, one.leading(("a",)), one.leading(("c",))) for one in operated] == [
        ("$set", "$set/a", None),
        ("$rename", None, "$rename/c"),
    ]
    assert [is_operator(name) for name in ("$set", "set", "$defs")] == [True, False, False]
    assert is_reference({"$ref": "x", "a": 1})
    assert not is_reference({"$ref": 7})
    assert not is_reference({"ref": "x"})
