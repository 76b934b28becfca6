"""In which form a caller takes an answer: a JSON-RPC message as JSON or as the one event of a stream, errors of GraphQL
by their own type.
"""

from collections.abc import Iterable

# GraphQL over HTTP, "Media Types".
GRAPHQL = b"application/graphql-response+json"
_JSON = b"application/json"
_EVENTS = b"text/event-stream"
_TAKES_JSON = frozenset({"application/json", "application/*", "*/*"})


def as_accepted(message: bytes, accept: Iterable[str]) -> tuple[bytes, bytes]:
    """The content type and the body. `message` is one line; `accept` are the values of `Accept`.

    JSON, but for a caller that names event streams and nothing that JSON is (RFC 9110, section 12.5.1).
    """
    kinds = _accepted(accept)
    if kinds & _TAKES_JSON or _EVENTS.decode() not in kinds:
        return _JSON, message
    return _EVENTS, as_event(message)


def as_event(message: bytes) -> bytes:
    """`message`, one line, as an event of a stream."""
    return b"event: message\ndata: " + message + b"\n\n"


def takes_graphql(accept: Iterable[str]) -> bool:
    """Whether a client knows the answers of GraphQL over HTTP by their type: in no other does Apollo's look for the
    errors of an answer that is none of 200."""
    return GRAPHQL.decode() in _accepted(accept)


def _accepted(accept: Iterable[str]) -> set[str]:
    """The types that are named, and are taken at all."""
    kinds = set()
    for part in ",".join(accept).split(","):
        kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if not any(one.startswith("q=") and not one[2:].strip("0.") for one in parameters):
            kinds.add(kind)
    return kinds
