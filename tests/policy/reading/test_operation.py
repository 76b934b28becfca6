"""How an operation is shown."""

from gateway.policy.reading.jsonbody import MISSING
from gateway.policy.reading.operation import Operation


def test_an_operation_is_shown_by_what_it_does() -> None:
    """Its type and its root fields, of which a caller may have sent many."""
    few = Operation("mutation", frozenset({"b", "a"}), lambda _: MISSING)
    many = Operation("query", frozenset(f"f{at:03}" for at in range(100)), lambda _: MISSING)

    assert str(few) == "mutation { a, b }"
    assert str(many) == "query { f000, f001, f002, f003, f004, f005, f006, f007, ... }"
