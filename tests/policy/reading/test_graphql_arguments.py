"""The resource that an argument names is the one an engine is given: drawn arguments, variables, and graphql-core."""

import json

import pytest
from graphql import GraphQLResolveInfo, build_schema, execute, parse
from graphql.error import GraphQLError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.core.caller import NOBODY
from gateway.policy.review.answer import answer
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, request, rules

POLICY = """\
writes:
  - {name: put, match: POST /graphql, when: {graphql: {mutation: [put, drop]}}, resource: "doc/{graphql.id}"}
  - {name: change, match: POST /graphql, when: {graphql: {mutation: [change]}}, resource: "doc/{graphql.input.id}"}
"""
SCHEMA = build_schema(
    """
    input In {id: ID, other: ID}
    type Query {a: ID}
    type Mutation {put(id: ID, other: ID): ID drop(id: ID): ID change(input: In): ID}
    """
)
LITERALS = [
    '"7"',
    "7",
    '"7"',
    '"07"',
    "07",
    "7.0",
    "-0",
    '"\\u0037"',
    '""',
    "null",
    "true",
    "[7]",
    '"a b"',
    "A",
    "{id: 7}",
]
BOUND = ["$v", "$v", "$w", "$V"]
INPUTS = ["{id: %s}", "{id: %s, other: 8}", "{other: 8, id: %s}", "{other: %s}", "{id: 8, id: %s}", "$i", "[{id: %s}]"]
VALUES = [
    "7",
    '"7"',
    "8",
    "7.0",
    "7e0",
    "9007199254740993",
    "null",
    "true",
    "[7]",
    '"\\u0037"',
    '"7\\u0000"',
    '"\\ud83d\\ude00"',
]
TYPES = ["ID", "ID!", "ID = 8", "ID = null", "[ID]", "Int", "String"]


@st.composite
def requests(draw: st.DrawFn) -> str:
    """A mutation of a field or two, by what is written in it and in its variables."""

    def value() -> str:
        return draw(st.sampled_from(LITERALS + BOUND))

    fields = []
    for _ in range(draw(st.integers(1, 2))):
        name = draw(st.sampled_from(["put", "drop", "change"]))
        form = draw(st.sampled_from(INPUTS)) if name == "change" else "%s"
        given = (f"input: {form}" if name == "change" else "id: %s").replace("%s", value())
        more = draw(st.sampled_from(["", "", ", other: 8", ", id: 8", ", ID: 8"])) if name == "put" else ""
        fields.append(f"{draw(st.sampled_from(['', 'x: ', 'y: ']))}{name}({given}{more})")
    types = (draw(st.sampled_from(TYPES)), draw(st.sampled_from(TYPES)))
    variables = [f'"{name}": {draw(st.sampled_from(VALUES))}' for name in draw(st.sets(st.sampled_from("vwV")))]
    variables += draw(
        st.sampled_from([[], [f'"i": {{"id": {draw(st.sampled_from(VALUES))}}}'], ['"i": {"id": 7, "ID": 8}']])
    )
    query = f"mutation($v: {types[0]}, $w: {types[1]}, $i: In) {{{' '.join(fields)}}}"
    return f'{{"query": {json.dumps(query)}, "variables": {{{", ".join(variables)}}}}}'


def given_ids(body: str) -> set[object]:
    """What the engine gives its fields for an id. Empty where it runs none."""
    ids: set[object] = set()

    def resolve(
        _: object, __: GraphQLResolveInfo, id: object = None, other: object = None, input: object = None
    ) -> None:
        ids.add(input.get("id") if isinstance(input, dict) else id)

    asked = json.loads(body)
    try:
        execute(SCHEMA, parse(asked["query"]), variable_values=asked["variables"], field_resolver=resolve)
    except GraphQLError:
        return set()
    return ids


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("arguments"), HEAD + POLICY)


@given(requests())
@settings(max_examples=400)
@example('{"query": "mutation($v: ID = 8) {put(id: $v)}", "variables": {}}')
@example('{"query": "mutation($i: In) {change(input: $i)}", "variables": {"i": {"id": 7}}}')
def test_every_field_is_given_the_id_that_is_fenced(ruleset: RuleSet, body: str) -> None:
    """Where it runs at all."""
    told = answer(ruleset, request("POST", "/graphql", ("Content-Type", "application/json"), body=body), NOBODY)

    if told.resource is not None:
        assert {f"doc/{id}" for id in given_ids(body)} <= {told.resource}


def test_the_engine_is_given_something() -> None:
    """Else the drawn ones would show nothing."""
    assert given_ids('{"query": "mutation($v: ID) {put(id: $v) drop(id: 8)}", "variables": {"v": 7}}') == {"7", "8"}
