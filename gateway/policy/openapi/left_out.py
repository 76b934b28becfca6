"""Members that a document calls read-only: no list of a rule has them, and who sends an answer back would send them."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from gateway.policy.finding import Wrong
from gateway.policy.openapi.body import schemas_in
from gateway.policy.openapi.members import token_of
from gateway.policy.openapi.tree import Node, Tree, is_true

_SCHEMAS = 500
_NESTED = 6
_MEMBERS = 500


def left_out(tree: Tree, schema: object, listed: Iterable[str]) -> tuple[str, ...]:
    """As JSON pointers. What stands below a pointer of the list passes, whatever it is."""
    passing = set(listed)
    return tuple(pointer for pointer in tree.once(_every, schema) if passing.isdisjoint(_on_the_way(pointer)))


def _every(tree: Tree, schema: object) -> tuple[str, ...]:
    found = members_below(tree, schema)
    return tuple(dict.fromkeys(pointer for pointer, one in found if is_true(one.get("readOnly"))))


def members_below(tree: Tree, schema: object) -> Iterator[tuple[str, Node]]:
    """Each with its pointer, in which items stand for their list; none below what is read-only."""
    return _below(tree, schema, "", 0, iter(range(_SCHEMAS)))


def _below(tree: Tree, schema: object, above: str, depth: int, left: Iterator[int]) -> Iterator[tuple[str, Node]]:
    top = tree.resolved(schema)
    for one in _made_of(tree, top, left) if not isinstance(top, Wrong) and depth < _NESTED else ():
        members = one.get("properties")
        for name, value in list(members.items())[:_MEMBERS] if isinstance(members, Mapping) else ():
            pointer = above + token_of(str(name))
            described = tree.resolved(value)
            if isinstance(described, Wrong):
                continue
            yield pointer, described
            if not is_true(described.get("readOnly")):
                yield from _below(tree, value, pointer, depth + 1, left)
        if "items" in one:
            yield from _below(tree, one["items"], above, depth + 1, left)


def _made_of(tree: Tree, top: Node, left: Iterator[int]) -> Iterator[Node]:
    for one in islice(schemas_in(tree, top), _SCHEMAS):
        if next(left, None) is None:
            return
        yield one


def _on_the_way(pointer: str) -> Iterator[str]:
    names = pointer.split("/")
    return ("/".join(names[:end]) for end in range(2, len(names) + 1))
