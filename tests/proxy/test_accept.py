"""In which form a JSON-RPC message is answered."""

import pytest

from gateway.proxy.accept import as_accepted

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
