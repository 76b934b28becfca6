"""What an operation does: its root fields, however the document spells them, and the values of their arguments."""

import time

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.policy.reading.graphql_document import parse_operation
from gateway.policy.reading.jsonbody import MISSING, JsonValue, Missing, Number
from gateway.policy.reading.operation import Operation

MOST = 10_000


def operation(text: str, name: str | None = None, **variables: JsonValue) -> Operation:
    parsed = parse_operation(text, name, variables, MOST)
    assert isinstance(parsed, Operation), parsed
    return parsed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{ a }", "query { a }"),
        ("query Named { a b }", "query { a, b }"),
        ("mutation delete { x: a y: a }", "mutation { a }"),
        ("mutation { ...F } fragment F on Mutation { a ...G } fragment G on Mutation { b }", "mutation { a, b }"),
        ("mutation { a ...F } fragment F on M { ...G } fragment G on M { b ...F }", "mutation { a, b }"),
        ("mutation { ... on Mutation { a ... { b } } }", "mutation { a, b }"),
        ("mutation { a @skip(if: true) b @include(if: false) }", "mutation { a, b }"),
        ("mutation { ...F @skip(if: true) a } fragment F on M { b }", "mutation { a, b }"),
        ("mutation { __typename a { b } }", "mutation { a }"),
        ('mutation { docs { up(id: "7") { id } } }', "mutation { docs }"),
        ("query { __typename }", "query { __typename }"),
        ("query { __schema { types { name } } }", "query { __schema }"),
        ("# mutation { a }\n{ b }", "query { b }"),
        ("# mutation { a }\r\n{ b }\r\n", "query { b }"),
        ('{ b(x: ["" "a", ""]) }', "query { b }"),
        ("query A { a } fragment Unused on Q { b }", "query { a }"),
        ('{ a(x: "} mutation { b }") }', "query { a }"),
    ],
)
def test_root_fields_are_told_whatever_they_are_called(text: str, told: str) -> None:
    """Aliases, names of operations and conditional directives change nothing; fragments are followed, also in rings."""
    assert str(operation(text)) == told


@pytest.mark.parametrize(
    "text",
    [
        "",
        "mutation",
        "mutation { }",
        "{ a } trailing",
        "{ a } { b }",
        "{ a } query B { b }",
        "query A { a } query A { b }",
        "{ ...F }",
        "{ ...F } fragment F on Q { a } fragment F on Q { b }",
        "{ ...F } fragment F on Q { ...F }",
        "{ a } type X { y: Int }",
        "extend type Query { y: Int }",
        "query ($x: Int, $x: Int) { a }",
        "{ a } \u2028 mutation { b }",
        "{ a } # \u2028 mutation { b }",
        "{ a } # \x0b mutation { b }",
        "\ufeff{ a }",
        "mutation #\r A { a } query \n B { b }",
        "mutation { a(id: #\r 7 b: \n 8) }",
        "{ a }\r",
        '{ a(x: """b""") }',
        '{ a(x: """b\\""" c""") }',
        '{ a(x: ["""b"]) } mutation B { c } query C { a(x: ["""]) }',
        '{ a(x: "\\u{37}") }',
        '{ a(x: "\\u0037") }',
        '{ a(x: "\\ud83d\\ude00") }',
        '{ a(x: "\\/") }',
        '{ a(x: "b\\\\", y: ") c(z: ") }',
        '{ a(x: "b\\"c") }',
        '{ a(x: "\u00e9") }',
        "query { a # \u00e9\u00e9\n b }",
        "{ \uff41 }",
        "{a" * 1000 + "}" * 1000,
        "{" + "a " * MOST + "}",
        "{ a(x: " + "[" * 3000 + "]" * 3000 + ") }",
        '{ a(x: "' + "b" * 70_000 + '") }',
    ],
)
def test_a_document_that_is_not_valid_or_not_plain_is_ambiguous(text: str) -> None:
    """It is refused in good time, however deep or long it is."""
    begun = time.process_time()
    refused = parse_operation(text, None, {}, MOST)

    assert isinstance(refused, Refused)
    assert refused.decision is AMBIGUOUS_TARGET
    assert len(refused.detail) < 500
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    ("text", "path", "value"),
    [
        ('mutation { a(id: "x") }', "id", "x"),
        ("mutation { a(id: 7) }", "id", Number("7")),
        ("mutation { a(id: 7.0) }", "id", Number("7.0")),
        ("mutation { a(kind: BODY) }", "kind", "BODY"),
        ("mutation { a(id: true) }", "id", True),
        ("mutation { a(id: null) }", "id", None),
        ('mutation { a(id: ["x"]) }', "id", []),
        ("mutation ($v: ID) { a(id: $v) }", "id", "from-variable"),
        ('mutation ($v: ID = "d") { a(id: $v) }', "id", "from-variable"),
        ('mutation ($w: ID = "d") { a(id: $w) }', "id", "d"),
        ("mutation ($w: ID) { a(id: $w) }", "id", MISSING),
        ("mutation { a(other: 1) }", "id", MISSING),
        ('mutation { a(input: {id: "x", b: {c: 1}}) }', "input.id", "x"),
        ('mutation { a(input: {id: "x", b: {c: 1}}) }', "input.b.c", Number("1")),
        ('mutation { a(input: {id: "x"}) }', "input.none", MISSING),
        ('mutation { a(input: "x") }', "input.id", MISSING),
        ("mutation ($v: ID) { a(input: {id: $v}) }", "input.id", "from-variable"),
        ("mutation ($o: I) { a(input: $o) }", "input.id", "inner"),
        ("mutation ($o: I) { a(input: $o) }", "input.id.deeper", MISSING),
        ("mutation ($o: I) { a(input: $o) }", "input.none", MISSING),
        ('mutation ($w: I = {id: "d"}) { a(input: $w) }', "input.id", "d"),
        ("mutation ($o: I) { a(input: $o) }", "input", None),
        ('mutation ($n: ID = "d") { a(id: $n) }', "id", None),
        ("mutation ($l: [ID]) { a(ids: $l) }", "ids", []),
        ('mutation { a(id: "x") b: a(id: "x") __typename }', "id", "x"),
        ('mutation { a(id: "x") ...F } fragment F on M { b(id: "x") }', "id", "x"),
        ("mutation { __typename }", "id", MISSING),
    ],
)
def test_an_argument_is_a_literal_or_a_variables_value(text: str, path: str, value: JsonValue | Missing) -> None:
    """A variable's default counts where the caller sent none, not null; a list or an object is no name."""
    told = operation(text, v="from-variable", o={"id": "inner"}, l=["x"], n=None)

    assert told.argument(tuple(path.split("."))) == value


def test_many_root_fields_of_long_variables_are_compared_in_good_time() -> None:
    """What is in a list names nothing, and is not looked at."""
    many: list[JsonValue] = [Number(str(number)) for number in range(50_000)]
    told = operation("mutation ($v: [I], $w: [I]) { a(id: $v)" + " a(id: $w)" * 1000 + " }", v=many, w=list(many))
    begun = time.process_time()

    assert told.argument(("id",)) == []
    assert time.process_time() - begun < 1


@pytest.mark.parametrize(
    "text",
    [
        'mutation { a(id: "x") b: a(id: "y") }',
        'mutation { a(id: "x") b }',
        'mutation { a(id: "x", id: "y") }',
        'mutation { a(id: "x") b: a(id: "y") @skip(if: true) }',
        "mutation { a(id: $v) }",
        'mutation { a(id: "7") b: a(id: 7) }',
    ],
)
def test_an_argument_with_two_values_is_ambiguous(text: str) -> None:
    """One write has one resource: root fields that name two are sent one by one."""
    assert isinstance(operation(text, v="x").argument(("id",)), Refused)


@pytest.mark.parametrize(
    ("text", "path", "variables"),
    [
        ("mutation { a(id: 7, ID: 8) }", "id", {}),
        ("mutation { a(ID: 8) }", "id", {}),
        ("mutation { a(docId: 7, doc_id: 8) }", "docId", {}),
        ("mutation { a(input: {id: 7, Id: 8}) }", "input.id", {}),
        ("mutation { a(Input: {id: 8}, input: {id: 7}) }", "input.id", {}),
        ("mutation ($v: I) { a(input: $v) }", "input.id", {"v": {"id": "7", "_id": "8"}}),
        ("mutation ($v: I) { a(input: $v) }", "input.b.id", {"v": {"b": {"id": "7", "ID": "8"}}}),
        ("mutation ($v: I) { a(input: $v) }", "input.b.id", {"v": {"b": {"id": "7"}, "B": {"id": "8"}}}),
        ("mutation ($v: I) { a(id: $v) }", "id", {"v": "7", "V": "8"}),
        ("mutation ($v: I, $V: I) { a(id: $v, b: $V) }", "id", {"v": "7"}),
    ],
)
def test_a_name_in_another_spelling_is_ambiguous(text: str, path: str, variables: dict[str, JsonValue]) -> None:
    """To Absinthe it is the same name, and the last one counts."""
    found = operation(text, **variables).argument(tuple(path.split(".")))

    assert isinstance(found, Refused)
    assert "another spelling" in found.detail


def test_names_that_no_rule_looks_at_may_be_alike() -> None:
    """They are the API's own."""
    told = operation("mutation ($w: I, $W: I) { a(id: 7, by: {x: 1, X: 2}, t: $w) }", w={"y": 1, "Y": 2}, z=1, Z=2)

    assert told.argument(("id",)) == Number("7")


def test_variables_of_many_members_are_looked_into_once() -> None:
    """Whatever names them."""
    many: dict[str, JsonValue] = {f"m{number}": "x" for number in range(50_000)}
    told = operation("mutation ($v: I) { a(i: $v)" + " a(i: $v)" * 1000 + " }", v={**many, "id": "7"})
    begun = time.process_time()

    assert told.argument(("i", "id")) == "7"
    assert time.process_time() - begun < 1


def test_an_input_object_with_a_name_twice_is_ambiguous() -> None:
    """As in JSON."""
    assert isinstance(operation('mutation { a(input: {id: "x", id: "y"}) }').argument(("input", "id")), Refused)
