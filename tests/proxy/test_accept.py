"""In which form a JSON-RPC message is answered, and what is refused of GraphQL."""

import pytest

from gateway.proxy.accept import as_accepted, takes_graphql

JSON = (b"application/json", b"{}")
EVENT = (b"text/event-stream", b"event: message\ndata: {}\n\n")


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ((), JSON),
        (("application/json, text/event-stream",), JSON),
        (("text/event-stream", "application/json"), JSON),
        (("text/event-stream, */*;q=0.1",), JSON),
        (("text/event-stream, Application/JSON ; charset=utf-8",), JSON),
        (("text/html",), JSON),
        (("text/event-stream",), EVENT),
        (("Text/Event-Stream;q=0.9",), EVENT),
        (("text/event-stream, application/json;q=0, */*;q=0.000",), EVENT),
        (("text/event-stream;q=0",), JSON),
    ],
    ids=lambda value: ", ".join(value) if value and isinstance(value[0], str) else None,
)
def test_json_is_preferred_and_events_are_for_who_takes_nothing_else(
    accept: tuple[str, ...], form: tuple[bytes, bytes]
) -> None:
    """MCP clients name both; the ones of the first revisions may read streams only."""
    assert as_accepted(b"{}", accept) == form


@pytest.mark.parametrize(
    ("accept", "is_taken"),
    [
        (("application/graphql-response+json, application/json;q=0.9",), True),
        (("application/json", "Application/GraphQL-Response+JSON"), True),
        (("application/graphql-response+json;q=0, application/json",), False),
        (("application/json, */*",), False),
        ((), False),
    ],
    ids=["Apollo's", "in two fields", "not that one", "older clients'", "none"],
)
def test_graphqls_own_type_is_for_who_names_it(accept: tuple[str, ...], is_taken: bool) -> None:
    """Others know a problem by its type."""
    assert takes_graphql(accept) is is_taken
