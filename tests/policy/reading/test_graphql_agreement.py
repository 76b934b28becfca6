"""What a rule is told of a GraphQL request is what an engine runs: drawn documents, executed by graphql-core."""

from graphql import GraphQLResolveInfo, GraphQLSchema, build_schema, execute, parse
from graphql.error import GraphQLError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gateway.core.target import Target, read_target
from gateway.policy.reading.graphql import read_operation
from gateway.policy.reading.jsonbody import JsonValue
from gateway.policy.reading.operation import Operation

_FIELDS = " ".join(f"{name}(id: ID, i: In): Query" for name in ("a", "b", "pay", "query", "mutation"))
SCHEMA: GraphQLSchema = build_schema(
    f"input In {{a: Int}} type Query {{{_FIELDS}}} type Mutation {{{_FIELDS}}} type Subscription {{{_FIELDS}}}"
)

FIELDS = ["a", "b", "pay", "x:pay", "query:b", "mutation", "pay(id:7)", 'a(id:"}")', "a{b}", "__typename"]
FIELDS += ['a(id:"#")', 'a(id:"//")', 'a(id:"\'")', "a(id:-0)", "b(i:{a:7})", 'a(id:"")', "b#}pay\n", "a(id:7)b"]
SPREADS = ["...F", "...{pay}", "...on Query{b}", "...on Mutation{pay}", "a@skip(if:true)", "...F@include(if:false)"]
BETWEEN = [" ", " ", ",", "\n", "#}\n", "#mutation{pay}\n", '"""}"""', "\ufeff", "\r", "\u2028", "\t", "\r\n", '#"\n']
BROKEN = [
    "",
    "",
    "",
    "",
    "{",
    "}",
    '"',
    "&",
    "query",
    "...F",
    "(id:$v)",
    "extend",
    "\x0b",
    "/* */",
    "//",
    "'",
    "`",
    "%",
]
BROKEN += [
    "type",
    "input",
    '"{"',
    '"}"',
    '"a" "b"',
    "0x7",
    "1E+1",
    "truex",
    "nullid",
    "onX",
    "~",
    "|",
    "fragment",
    "@d",
]
# Most requests name none, and most names are of nothing.
WANTED: list[dict[str, JsonValue]] = [{}] * 6
WANTED += [{"operationName": name} for name in (None, "", "Q", "Q", "A", "q", "mutation")]


@st.composite
def selections(draw: st.DrawFn) -> str:
    chosen = draw(st.lists(st.sampled_from(FIELDS + SPREADS), min_size=1, max_size=3))
    return "{" + draw(st.sampled_from(BETWEEN)).join(chosen) + "}"


@st.composite
def requests(draw: st.DrawFn) -> dict[str, JsonValue]:
    """An operation or two, perhaps a fragment, perhaps a piece too many, and the operation that is wanted."""
    kinds = draw(st.sampled_from([["query"], ["mutation"], ["query"], ["mutation"], ["query", "mutation"]]))
    heads = [f"{kind} {name}" for kind, name in zip(kinds, draw(st.sampled_from(["QA", "AQ"])), strict=False)]
    if len(heads) == 1:
        heads = draw(st.sampled_from([heads, kinds, [""]]))
    texts = [head + draw(selections()) for head in heads]
    if any("...F" in text for text in texts):
        texts.append(f"fragment F on {draw(st.sampled_from(['Query', 'Mutation']))}{draw(selections())}")
    text = draw(st.sampled_from(BETWEEN)).join(texts)
    at = draw(st.integers(0, len(text)))
    return {"query": text[:at] + draw(st.sampled_from(BROKEN)) + text[at:]} | draw(st.sampled_from(WANTED))


def run(asked: dict[str, JsonValue]) -> set[tuple[str, str]]:
    """What an engine runs of it: the type and the name of each root field. Empty where it refuses the request."""
    ran: set[tuple[str, str]] = set()

    def resolve(_: object, info: GraphQLResolveInfo, **__: object) -> object:
        if info.path.prev is None:
            ran.add((info.parent_type.name.lower(), info.field_name))
        return {}

    name = asked.get("operationName")
    try:
        document = parse(str(asked["query"]))
        # To many servers an empty name is none.
        execute(SCHEMA, document, operation_name=str(name) if name else None, field_resolver=resolve)
    except GraphQLError:
        return set()
    return ran


@given(requests())
@settings(max_examples=200)
@example({"query": "query Q{a} mutation A{pay}", "operationName": "A"})
@example({"query": "mutation{x:pay ...on Mutation{b}}"})
def test_an_engine_runs_what_the_rules_were_told_and_no_more(asked: dict[str, JsonValue]) -> None:
    """Of the type that was told, and only root fields that were; a condition in the document may leave some out."""
    target = read_target("/graphql")
    assert isinstance(target, Target)
    told = read_operation(asked, target)

    if isinstance(told, Operation):
        assert {(told.kind, name) for name in told.fields} >= run(asked)


def test_the_engine_runs_something() -> None:
    """Else the drawn ones would show nothing."""
    assert run({"query": "query Q{a} mutation A{x:pay}", "operationName": "A"}) == {("mutation", "pay")}
    assert run({"query": "query Q{...F} fragment F on Query{a b @skip(if:true)}"}) == {("query", "a")}
