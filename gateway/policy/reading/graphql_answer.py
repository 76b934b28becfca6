"""What a GraphQL server's refusal by status says of the operation that it was sent."""

import json

from gateway.core.coding import decoded
from gateway.core.decision import Refused
from gateway.core.request import HeaderPairs, Headers

# In which no server answers an operation.
_PAGES = frozenset((b"text/html", b"text/plain", b"application/problem+json"))
# What is held of an answer at most.
MOST = 1 << 20


def may_be_operation(body: bytes) -> bool:
    """Whether the body of a request whose rule says nothing of GraphQL looks like one of its operations."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("query"), str)


class RefusalReader:
    """A request that was found wrong before anything was done is answered with errors alone, of which none has the
    path of a field, and without `data` (GraphQL, section 7.1). Servers take the status of what a resolver throws, too,
    as Apollo Server, Mercurius and Yoga do where it names one: the fields before that one have acted.

    A page, a plain text, nothing, and JSON that is no GraphQL answer are by whatever stands before the server: their
    status counts. What else there is may be an answer in another form, such as multipart.
    """

    def __init__(self, headers: HeaderPairs) -> None:
        fields = Headers(headers)
        self._codings = fields.all(b"content-encoding")
        self._type = (fields.first(b"content-type") or b"").partition(b";")[0].strip().lower()
        self._held: bytearray | None = bytearray()

    def add(self, piece: bytes | None) -> None:
        """The next piece of the body; None for one that is too large."""
        if piece is None or self._held is None or len(self._held) + len(piece) > MOST:
            self._held = None
        else:
            self._held += piece

    @property
    def proves_something(self) -> bool:
        """Whether nothing was done, by a whole body. What cannot be read proves nothing."""
        plain = None if self._held is None else decoded(bytes(self._held), self._codings, MOST)
        if plain is None or isinstance(plain, Refused):
            return False
        try:
            value = json.loads(plain)
        except ValueError:
            return not plain or self._type in _PAGES
        except RecursionError:
            return False
        answers = value if isinstance(value, list) else [value]
        return not any(isinstance(one, dict) and _was_begun(one) for one in answers)


def _was_begun(answer: dict[str, object]) -> bool:
    errors = answer.get("errors")
    return "data" in answer or (isinstance(errors, list) and any(map(_is_of_a_field, errors)))


def _is_of_a_field(error: object) -> bool:
    return isinstance(error, dict) and error.get("path") is not None
