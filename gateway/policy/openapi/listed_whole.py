"""Members that a list of a rule has with whatever is below, though the document speaks of objects there.

On the way to what `only` lists stand objects and lists of objects alone: none leads through what may be a null, or a
list in a list. Maps have names that no document tells.
"""

from collections.abc import Iterable, Iterator
from itertools import islice

from gateway.policy.finding import Wrong
from gateway.policy.openapi.body import schemas_in
from gateway.policy.openapi.left_out import members_below
from gateway.policy.openapi.tree import Tree, items_of

_SCHEMAS = 200
_NESTED = 4
_PLACES = 50


def listed_whole(tree: Tree, schema: object, listed: Iterable[str]) -> tuple[str, ...]:
    """As JSON pointers, of those that are listed."""
    known = set(listed)
    return tuple(pointer for pointer in tree.once(_with_objects, schema) if pointer in known)


def _with_objects(tree: Tree, schema: object) -> tuple[str, ...]:
    found = members_below(tree, schema)
    return tuple(dict.fromkeys(pointer for pointer, one in found if tree.once(_may_hold_objects, one)))


def _may_hold_objects(tree: Tree, value: object) -> bool:
    return _holds(tree, value, 0, iter(range(_SCHEMAS)))


def _holds(tree: Tree, value: object, depth: int, left: Iterator[int]) -> bool:
    """In lists, too."""
    schema = tree.resolved(value)
    if isinstance(schema, Wrong) or depth > _NESTED or next(left, None) is None:
        return False
    for one in islice(schemas_in(tree, schema), _SCHEMAS):
        of_type = one.get("type")
        if "object" in (of_type if isinstance(of_type, list) else [of_type]) or "properties" in one:
            return True
        items = (one.get("items"), *items_of(one.get("prefixItems"), _PLACES))
        if any(_holds(tree, item, depth + 1, left) for item in items):
            return True
    return False
