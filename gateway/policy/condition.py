"""The conditions of `when`: a pointer, header or query parameter, and the values of which it must have one."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from gateway.core.decision import Refused
from gateway.core.request import Request
from gateway.policy.fields import read_header, read_query
from gateway.policy.finding import Wrong
from gateway.policy.jsonbody import JsonReader, JsonValue, Missing, Number, Pointer


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


Scalar = Text | Truth | Amount


@dataclass(frozen=True, slots=True)
class JsonCondition:
    pointer: Pointer
    values: frozenset[Scalar]

    def __str__(self) -> str:
        return f"json {self.pointer.text}"


@dataclass(frozen=True, slots=True)
class HeaderCondition:
    """`name` is lower case."""

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


Condition = JsonCondition | HeaderCondition | QueryCondition


@dataclass(frozen=True, slots=True)
class BodyWanted:
    """The answer needs the body, and it has not been read."""


def first_unmet(
    conditions: tuple[Condition, ...], request: Request, body: JsonReader
) -> Condition | BodyWanted | Refused | None:
    """The first condition that does not hold, None if all do. The body's come last: it may not have to be read."""
    for condition in conditions:
        match condition:
            case JsonCondition(pointer, scalars):
                if not body.is_there:
                    return BodyWanted()
                found = body.find(pointer)
                if isinstance(found, Refused):
                    return found
                if isinstance(found, Missing) or scalar(found) not in scalars:
                    return condition
            case HeaderCondition(name, values):
                text = read_header(request.headers, name)
                if isinstance(text, Refused):
                    return text
                if text not in values:
                    return condition
            case QueryCondition(name, values):
                text = read_query(request.target, name)
                if isinstance(text, Refused):
                    return text
                if text not in values:
                    return condition
    return None


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
    return compiled or Wrong(
        "only text, numbers, true, false and null can be compared; point at one with a longer pointer"
    )


def are_disjoint(one: tuple[Condition, ...], other: tuple[Condition, ...]) -> bool:
    """Whether no request meets both: on one pointer, header or parameter they want different values."""
    wanted = dict(_wanted(one))
    return any(key in wanted and wanted[key].isdisjoint(values) for key, values in _wanted(other))


def contradiction(conditions: tuple[Condition, ...]) -> str | None:
    """Why no request can meet all conditions of one rule, if so."""
    names = [condition.name for condition in conditions if isinstance(condition, HeaderCondition)]
    doubled = next((name for name in names if names.count(name) > 1), None)
    if doubled is not None:
        return f"header `{doubled}` stands here twice; give one list of values"
    pointers = [condition.pointer for condition in conditions if isinstance(condition, JsonCondition)]
    for outer in pointers:
        for inner in pointers:
            if outer is not inner and inner.tokens[: len(outer.tokens)] == outer.tokens:
                return f"`{outer.text}` must be a plain value here, so that `{inner.text}` is never there; remove one"
    return None


def _wanted(conditions: tuple[Condition, ...]) -> Iterator[tuple[str, frozenset[str] | frozenset[Scalar]]]:
    for condition in conditions:
        yield str(condition), condition.values
