"""The conditions of `when`: a part of the request, and the values of which it must have one."""

from dataclasses import dataclass
from decimal import Decimal

from gateway.core.decision import AMBIGUOUS_TARGET, OF_NAMES, Refused
from gateway.core.request import Request
from gateway.policy.finding import Wrong
from gateway.policy.reading.body import Body, BodyWanted
from gateway.policy.reading.body_type import CONTENT_TYPE, named_type
from gateway.policy.reading.fields import read_header
from gateway.policy.reading.hidden import hidden_in
from gateway.policy.reading.jsonbody import (
    MISSING,
    JsonValue,
    Missing,
    Number,
    Pointer,
    ambiguous_body,
    survives_double,
)
from gateway.policy.reading.operation import Operation, OperationKind
from gateway.policy.reading.twin import squeezed


@dataclass(frozen=True, slots=True)
class Text:
    value: str


@dataclass(frozen=True, slots=True)
class Truth:
    """A boolean, or null as None. Not the number that Python takes for its equal."""

    value: bool | None


@dataclass(frozen=True, slots=True)
class Amount:
    """A number by its value: a body may spell 5 as `5.0`."""

    value: Decimal


@dataclass(frozen=True, slots=True)
class Absent:
    """Nothing stands there at all."""


@dataclass(frozen=True, slots=True)
class Present:
    """Something stands there, whatever it is."""


Scalar = Text | Truth | Amount | Absent


@dataclass(frozen=True, slots=True)
class JsonCondition:
    pointer: Pointer
    values: frozenset[Scalar]

    def __str__(self) -> str:
        return f"json {self.pointer.text}"


@dataclass(frozen=True, slots=True)
class HeaderCondition:
    """`name` is lower case. Of Content-Type the type alone is compared."""

    name: str
    values: frozenset[str]

    def __str__(self) -> str:
        return f"header {self.name}"


@dataclass(frozen=True, slots=True)
class QueryCondition:
    name: str
    values: frozenset[str]

    def __str__(self) -> str:
        return f"query {self.name}"


@dataclass(frozen=True, slots=True)
class FormCondition:
    name: str
    values: frozenset[str]

    def __str__(self) -> str:
        return f"form {self.name}"


# An operation's type, and one root field of it; None for any.
RootField = tuple[OperationKind, str | None]


@dataclass(frozen=True, slots=True)
class GraphqlCondition:
    """Each root field of the operation must be one of `values`."""

    values: frozenset[RootField]

    def __str__(self) -> str:
        return "graphql"

    @property
    def wanted(self) -> str:
        """For people."""
        return ", ".join(f"{kind} {name or '(any)'}" for kind, name in sorted(self.values, key=str))

    def holds(self, operation: Operation) -> bool:
        kind = operation.kind
        return (kind, None) in self.values or all((kind, name) in self.values for name in operation.fields)


_OF_PRESENCE = frozenset((Present(),))


@dataclass(frozen=True, slots=True)
class PresenceCondition:
    """Something must stand where `of` looks: whatever value, and be it null."""

    of: JsonCondition | HeaderCondition | QueryCondition | FormCondition

    @property
    def values(self) -> frozenset[Present]:
        return _OF_PRESENCE

    def __str__(self) -> str:
        return f"presence of {self.of}"


Condition = JsonCondition | HeaderCondition | QueryCondition | FormCondition | GraphqlCondition | PresenceCondition
# What a condition looks at, as far as it can be compared.
Subject = Scalar | Present | str | Operation | None


def first_unmet(
    conditions: tuple[Condition, ...], request: Request, body: Body
) -> Condition | BodyWanted | Refused | None:
    """The first condition that does not hold, None if all do. The body's come last: it may not have to be read."""
    for condition in conditions:
        found = read_subject(condition, request, body)
        if isinstance(found, BodyWanted | Refused):
            return found
        if not _holds(condition, found):
            return condition
    return None


def read_subject(condition: Condition, request: Request, body: Body) -> Subject | BodyWanted | Refused:
    """What a request has where the condition looks; None for no field, or for a list or an object.

    Refused is also what some readers take for another text: `note` with a NUL behind it is one that no rule names.
    """
    found = _read(condition, request, body)
    text = found.value if isinstance(found, Text) else found
    hidden = hidden_in(text) if isinstance(text, str) else None
    if hidden is None:
        return found
    detail = f"Nothing was forwarded: a rule looks at {condition}, which {hidden}: readers differ in it."
    return Refused(AMBIGUOUS_TARGET, f"{detail} Send it without.", OF_NAMES)


def _read(condition: Condition, request: Request, body: Body) -> Subject | BodyWanted | Refused:
    match condition:
        case HeaderCondition(name):
            field = read_header(request.headers, name)
            return named_type(request.headers) if name == CONTENT_TYPE and isinstance(field, str) else field
        case QueryCondition(name):
            return body.lacking_beside_query() or body.parameter(name)
        case FormCondition(name):
            lacking = body.lacking("form")
            if lacking is not None:
                return lacking
            field = body.field(name)
            return body.stray_field(name, None) if field is None else field
        case GraphqlCondition():
            return body.lacking("json") or body.operation()
        case PresenceCondition(of):
            return _presence(of, request, body)
        case JsonCondition(pointer):
            found = body.lacking("json") or body.find(pointer)
            if isinstance(found, BodyWanted | Refused):
                return found
            if isinstance(found, Number) and not found.survives:
                return ambiguous_body(f"{pointer.text} is a number that many readers would round")
            if isinstance(found, Missing):
                return body.json.doubt_of_absence(pointer) or body.stray_member(pointer, found) or Absent()
            return scalar(found)


def _presence(
    of: JsonCondition | HeaderCondition | QueryCondition | FormCondition, request: Request, body: Body
) -> Subject | BodyWanted | Refused:
    """None where nothing stands there: in no body, and in one of another type, which must not have the name either. Nor
    must the query: to many servers it is the same one, with a body or without."""
    if not isinstance(of, JsonCondition | FormCondition):
        return _present(_read(of, request, body), nothing=None)
    is_json = isinstance(of, JsonCondition)
    is_there = body.may_be_there
    if not is_there or body.is_of_other_kind("json" if is_json else "form"):
        name, stray = _stray(of, body)
        return stray or (body.misplaced(name) if is_there else None)
    return _present(_read(of, request, body), nothing=Absent() if is_json else None)


def _stray(of: JsonCondition | FormCondition, body: Body) -> tuple[str, Refused | None]:
    """The name at the top of a body, and the refusal of a request that has it beside."""
    if isinstance(of, FormCondition):
        return of.name, body.stray_field(of.name, None)
    return of.pointer.tokens[0], body.stray_member(of.pointer, MISSING)


def _present(found: Subject | BodyWanted | Refused, nothing: Subject) -> Present | BodyWanted | Refused | None:
    if isinstance(found, BodyWanted | Refused):
        return found
    return None if found == nothing else Present()


def _holds(condition: Condition, found: Subject) -> bool:
    if isinstance(condition, GraphqlCondition):
        return isinstance(found, Operation) and condition.holds(found)
    return found in condition.values


def is_of_body(condition: Condition) -> bool:
    own = condition.of if isinstance(condition, PresenceCondition) else condition
    return isinstance(own, JsonCondition | FormCondition | GraphqlCondition)


def scalar(value: JsonValue | int | Decimal) -> Scalar | None:
    """The comparable form of a JSON value or of a value in a policy; None for a list or an object."""
    match value:
        case None | bool():
            return Truth(value)
        case str():
            return Text(value)
        case int() | Decimal():
            return Amount(Decimal(value))
        case Number(spelled):
            return Amount(Decimal(spelled))
    return None


def parse_scalar(value: object) -> Scalar | Wrong:
    """The comparable form of a value in a policy."""
    compiled = scalar(value) if value is None or isinstance(value, bool | int | str | Decimal) else None
    if isinstance(compiled, Amount) and not survives_double(compiled.value):
        return Wrong(f"`{value}` is a number that many readers would round; compare with one of at most 15 digits")
    return compiled or Wrong(
        "only text, numbers, true, false and null can be compared; point at one with a longer pointer"
    )


def contradiction(conditions: tuple[Condition, ...]) -> str | None:
    """Why no request can meet all conditions of one rule, if so."""
    names = [condition.name for condition in conditions if isinstance(condition, HeaderCondition)]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        return f"header `{doubled}` stands here twice; give one list of values"
    for condition in conditions:
        for value in condition.values:
            text = value.value if isinstance(value, Text) else value
            hidden = hidden_in(text) if isinstance(text, str) else None
            if hidden is not None:
                return f"no request is taken with {text!r} at {condition}, which {hidden}; write it without"
    pointers = [condition.pointer for condition in conditions if isinstance(condition, JsonCondition)]
    for outer in pointers:
        for inner in pointers:
            if outer is not inner and [*map(squeezed, outer.tokens)] == [*map(squeezed, inner.tokens)]:
                return f"`{outer.text}` and `{inner.text}` are one name to many APIs, and both are refused; remove one"
            if outer is not inner and inner.tokens[: len(outer.tokens)] == outer.tokens:
                return f"`{outer.text}` must be a plain value here, so that `{inner.text}` is never there; remove one"
    return None
