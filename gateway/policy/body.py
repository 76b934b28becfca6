"""A request's body in each form that a rule may want it in: JSON, a form, a GraphQL operation. Each is read once.

Its type has to say what it is read as.
"""

from dataclasses import dataclass

from gateway.core.decision import Refused
from gateway.core.request import Request
from gateway.policy.body_type import Kind, body_fault
from gateway.policy.formbody import Form, read_form
from gateway.policy.graphql import read_operation
from gateway.policy.jsonbody import JsonReader, JsonValue, Missing, Pointer
from gateway.policy.operation import Operation


@dataclass(frozen=True, slots=True)
class BodyWanted:
    """The answer needs the body, and it has not been read."""


class Body:
    """The body of one request, as far as it was read."""

    __slots__ = ("_faults", "_form", "_json", "_operation", "_request")

    def __init__(self, request: Request) -> None:
        self._request = request
        self._json: JsonReader | None = None
        self._form: Form | Refused | None = None
        self._operation: Operation | Refused | None = None
        self._faults: dict[Kind, Refused | None] = {}

    @property
    def is_there(self) -> bool:
        return self._request.body is not None

    @property
    def json(self) -> JsonReader:
        """As JSON, whatever its type says."""
        if self._json is None:
            self._json = JsonReader(self._request.body)
        return self._json

    def lacking(self, kind: Kind) -> BodyWanted | Refused | None:
        """What keeps the body from being read as `kind`: its type, which is told before it is read, or its absence.

        A target that is asked about has neither type nor body: it wants both.
        """
        if not self.is_there and not self._request.headers.all(b"content-type"):
            return BodyWanted()
        if kind not in self._faults:
            self._faults[kind] = body_fault(self._request, kind)
        return self._faults[kind] or (None if self.is_there else BodyWanted())

    def find(self, pointer: Pointer) -> JsonValue | Missing | Refused:
        """What a JSON pointer leads to. Refused: `ambiguous-target`."""
        return self._typed("json") or self.json.find(pointer)

    def field(self, name: str) -> str | Refused | None:
        """A field of a form, None without it. Refused: `ambiguous-target`."""
        if self._form is None:
            self._form = self._typed("form") or read_form(self._request.body or b"")
        return self._form if isinstance(self._form, Refused) else self._form.field(name)

    def operation(self) -> Operation | Refused:
        """The GraphQL operation. Refused: `ambiguous-target`."""
        if self._operation is None:
            self._operation = self._typed("json") or self._read_operation()
        return self._operation

    @property
    def has_operation(self) -> bool:
        """Whether some rule has asked for the operation, and it could be told."""
        return self._operation is not None and not isinstance(self._operation, Refused)

    def argument(self, path: tuple[str, ...]) -> JsonValue | Missing | Refused:
        """An argument of the GraphQL operation's root fields."""
        operation = self.operation()
        return operation if isinstance(operation, Refused) else operation.argument(path)

    def _read_operation(self) -> Operation | Refused:
        value = self.json.value()
        return value if isinstance(value, Refused) else read_operation(value, self._request.target)

    def _typed(self, kind: Kind) -> Refused | None:
        lacking = self.lacking(kind)
        assert not isinstance(lacking, BodyWanted), "whoever reads the body asks for it first"
        return lacking
