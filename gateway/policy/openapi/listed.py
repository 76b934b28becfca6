"""The values that a schema lists (`enum`, `const`), where it says for certain that there are no others."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain

from gateway.policy.finding import Wrong
from gateway.policy.openapi.tree import ALTERNATIVES, Node, Tree, alternatives, is_only_null, is_true, items_of
from gateway.policy.openapi.wording import scalar
from gateway.policy.reading.hidden import hidden_in
from gateway.policy.reading.jsonbody import survives_double
from gateway.policy.source import reads_as

_VALUES, _LENGTH = 200, 200
_INTEGER = re.compile("-?[0-9]{1,15}")
_BRANCHES = 100
_NESTED = 4
# Of one value; schemas may be made of themselves.
_SCHEMAS = 200
_NUMBERS = frozenset({"integer", "number"})
_TRUTHS = ("true", "false")
# Beside a reference these say more of what it leads to.
_SPEAKING = frozenset({"enum", "const", "type", "nullable", "allOf", *ALTERNATIVES})


@dataclass(frozen=True, slots=True)
class Plain:
    """A number, a boolean or null, as YAML and JSON spell it."""

    text: str


NULL = Plain("null")
Value = str | Plain


@dataclass(frozen=True, slots=True)
class Listed:
    """All that may stand somewhere: one of `plain`, or a list of `items`, where there are any."""

    plain: tuple[Value, ...]
    items: tuple[Value, ...] | None = None

    @property
    def texts(self) -> tuple[str, ...] | None:
        """As a parameter, a field or a header has them, where there is one way to spell each: of text and integers, and
        of no list. A null is not there. None: there is another way."""
        found = [one for one in self.plain if one != NULL]
        spelled = (one.text if isinstance(one, Plain) else one for one in found)
        texts = tuple(
            text for text, one in zip(spelled, found, strict=True) if isinstance(one, str) or _INTEGER.fullmatch(text)
        )
        return texts if texts and len(texts) == len(found) and self.items is None else None

    @property
    def texts_of_items(self) -> tuple[str, ...] | None:
        """Likewise of a list each of whose items stands alone."""
        return None if self.items is None or self.plain not in ((), (NULL,)) else Listed(self.items).texts

    @property
    def is_text(self) -> bool:
        """Whether nothing in it is a number or a boolean."""
        return all(isinstance(one, str) or one == NULL for one in self.plain)

    @property
    def or_null(self) -> "Listed":
        return self if NULL in self.plain else replace(self, plain=(*self.plain, NULL))

    @property
    def words(self) -> Iterator[str]:
        """As a policy has them between brackets, with no comma behind."""
        if self.items is None:
            return map(_written, self.plain)
        first, *others = [*map(_written, self.items)] or [""]
        items = [f"[{first}", *others]
        items[-1] += "]"
        return chain(map(_written, self.plain), items)


def either(one: Listed, other: Listed) -> Listed:
    """All that may stand where one of the two does."""
    items = None if one.items is None and other.items is None else _each((*(one.items or ()), *(other.items or ())))
    return Listed(_each((*one.plain, *other.plain)), items)


def listed_by(tree: Tree, value: object) -> Listed | None:
    """None: there may be other values, or some that no policy can name."""
    found = _listed(tree, value, 0, iter(range(_SCHEMAS)))
    return found if found is not None and len(found.plain) + len(found.items or ()) <= _VALUES else None


def _listed(tree: Tree, value: object, depth: int, left: Iterator[int]) -> Listed | None:
    is_plain = not isinstance(value, Mapping) or "$ref" not in value or _SPEAKING.isdisjoint(value)
    schema = tree.resolved(value)
    if isinstance(schema, Wrong) or not is_plain or depth > _NESTED or next(left, None) is None:
        return None
    types, is_null = _types(schema)
    found = _own(schema, types, is_null=is_null)
    if found is None and types == {"array"}:
        items = None if "prefixItems" in schema else _listed(tree, schema.get("items"), depth + 1, left)
        found = None if items is None or items.items is not None else Listed((), items.plain)
    if found is None and "enum" not in schema and "const" not in schema:
        found = _of_branches(tree, schema, depth, left)
    return found.or_null if found is not None and is_null else found


def _types(schema: Node) -> tuple[set[str], bool]:
    """Those that are no null, and whether it may be null."""
    of_type = schema.get("type")
    types = {one for one in (of_type if isinstance(of_type, list) else [of_type]) if isinstance(one, str)}
    return types - {"null"}, "null" in types or is_true(schema.get("nullable"))


def _own(schema: Node, types: set[str], *, is_null: bool) -> Listed | None:
    listed = schema.get("enum", [schema["const"]] if "const" in schema else None)
    named = schema.get("x-ms-enum")
    if isinstance(named, Mapping) and is_true(named.get("modelAsString")):
        # Azure's: those that are known so far.
        return None
    if not isinstance(listed, list) or not 0 < len(listed) <= _VALUES:
        return Listed(()) if is_only_null(schema) else None
    values = [_value(one, types, is_null=is_null) for one in listed]
    found = _each(one for one in values if one is not None)
    return Listed(found) if None not in values else None


def _of_branches(tree: Tree, schema: Node, depth: int, left: Iterator[int]) -> Listed | None:
    """Of alternatives each has to say it, of what is merged one."""
    branches = alternatives(schema, _BRANCHES)
    found = [_listed(tree, one, depth + 1, left) for one in branches]
    every = [one for one in found if one is not None]
    if branches and len(every) == len(branches):
        united = every[0]
        for one in every[1:]:
            united = either(united, one)
        return united
    merged = (_listed(tree, one, depth + 1, left) for one in items_of(schema.get("allOf"), _BRANCHES))
    return None if branches else next((one for one in merged if one is not None), None)


def _value(value: object, types: set[str], *, is_null: bool) -> Value | None:
    """A document's scalars are text here, but for JSON's booleans and null; its schema says what they are."""
    if value is None or (value == "null" and is_null):
        return NULL
    text = str(value).lower() if isinstance(value, bool) else value
    if not isinstance(text, str) or len(text) > _LENGTH:
        return None
    if types == {"boolean"} or isinstance(value, bool):
        return Plain(text) if text in _TRUTHS and types <= {"boolean"} else None
    if types and types <= _NUMBERS:
        number = reads_as(text)
        if isinstance(number, bool) or not isinstance(number, int | Decimal):
            return None
        return Plain(text) if survives_double(Decimal(number)) else None
    # Without a type it is text where it could be nothing else.
    is_text = types == {"string"} or (not types and isinstance(reads_as(text), str))
    return text if is_text and hidden_in(text) is None else None


def _each(values: Iterable[Value]) -> tuple[Value, ...]:
    return tuple(dict.fromkeys(values))


def _written(value: Value) -> str:
    return value.text if isinstance(value, Plain) else scalar(value)
