"""What conditions look at, and which entries want which of its values."""

from hypothesis import given
from hypothesis import strategies as st

from gateway.core.decision import Refused
from gateway.policy.aspect import aspects_of
from gateway.policy.condition import Condition, GraphqlCondition, HeaderCondition
from gateway.policy.reading.jsonbody import MISSING
from gateway.policy.reading.operation import Operation

KINDS, NAMES = ("query", "mutation"), ("a", "b", "c")

root_fields = st.tuples(st.sampled_from(KINDS), st.sampled_from((None, "a", "b")))
graphql = st.frozensets(root_fields, min_size=1).map(GraphqlCondition)


def operation(kind: str, names: frozenset[str]) -> Operation:
    return Operation(kind, names, lambda _: MISSING)


def places(bits: int, entries: int) -> list[int]:
    return [at for at in range(entries) if bits >> at & 1]


def test_entries_that_look_at_one_thing_share_its_aspect() -> None:
    """In the order of their conditions; a value leaves those that want it, and those that do not look."""
    kind = HeaderCondition("kind", frozenset({"x", "y"}))
    other = HeaderCondition("kind", frozenset({"y"}))
    place = HeaderCondition("place", frozenset({"z"}))

    first, second, third, fourth = aspects_of([(kind, place), (other,), (), (place,)])

    assert (first[0], first[1], third) == (second[0], fourth[0], ())
    assert places(first[0].takers("x"), 4) == [0, 2, 3]
    assert places(first[0].takers("y"), 4) == [0, 1, 2, 3]
    assert places(first[0].takers(None), 4) == [2, 3]
    assert places(first[1].rivals(place), 4) == [0, 1, 2, 3]
    assert places(first[0].rivals(HeaderCondition("kind", frozenset({"x"}))), 4) == [0, 2, 3]


def test_a_value_is_doubtful_to_the_entries_that_are_left() -> None:
    """What another entry names, which is out, makes no doubt; most aspects have none to tell of."""
    truth = HeaderCondition("kind", frozenset({"true"}))
    text = HeaderCondition("kind", frozenset({"x"}))
    both, plain = aspects_of([(truth,), (text,)])[0][0], aspects_of([(text,)])[0][0]

    assert (both.has_doubts, plain.has_doubts) == (True, False)
    assert isinstance(both.doubt("yes", 0b11), Refused)
    assert isinstance(both.doubt("y", 0b01), Refused)
    assert (both.doubt("yes", 0b10), both.doubt("x", 0b11), both.doubt(None, 0b11)) == (None, None, None)


@given(
    st.lists(graphql, min_size=1, max_size=8), st.sampled_from(KINDS), st.frozensets(st.sampled_from(NAMES), min_size=1)
)
def test_an_operation_is_wanted_where_the_condition_holds(
    conditions: list[GraphqlCondition], kind: str, names: frozenset[str]
) -> None:
    """All of its root fields must be wanted by the same entry."""
    asked = operation(kind, names)
    entries: list[tuple[Condition, ...]] = [(condition,) for condition in conditions]

    bits = aspects_of(entries)[0][0].takers(asked)

    assert places(bits, len(entries)) == [at for at, one in enumerate(conditions) if one.holds(asked)]


@given(st.lists(graphql, min_size=1, max_size=8))
def test_two_conditions_are_rivals_where_one_operation_meets_both(conditions: list[GraphqlCondition]) -> None:
    """If any operation does, one with a single root field does too."""
    entries: list[tuple[Condition, ...]] = [(condition,) for condition in conditions]
    every = [operation(kind, frozenset({name})) for kind in KINDS for name in NAMES]
    aspect = aspects_of(entries)[0][0]

    for one in conditions:
        met = [any(one.holds(asked) and other.holds(asked) for asked in every) for other in conditions]
        assert places(aspect.rivals(one), len(entries)) == [at for at, is_met in enumerate(met) if is_met]
