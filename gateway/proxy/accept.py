"""A JSON-RPC message in the form that its caller takes: as JSON, or as the one event of a stream."""

from collections.abc import Iterable

_JSON = b"application/json"
_EVENTS = b"text/event-stream"
_TAKES_JSON = frozenset({"application/json", "application/*", "*/*"})


def as_accepted(message: bytes, accept: Iterable[str]) -> tuple[bytes, bytes]:
    """The content type and the body. `message` is one line; `accept` are the values of `Accept`.

    JSON, but for a caller that names event streams and nothing that JSON is (RFC 9110, section 12.5.1).
    """
    kinds = set()
    for part in ",".join(accept).split(","):
        kind, *parameters = (piece.strip().lower() for piece in part.split(";"))
        if not any(one.startswith("q=") and not one[2:].strip("0.") for one in parameters):
            kinds.add(kind)
    if kinds & _TAKES_JSON or _EVENTS.decode() not in kinds:
        return _JSON, message
    return _EVENTS, b"event: message\ndata: " + message + b"\n\n"
