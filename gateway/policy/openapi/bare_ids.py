"""Ids whose names do not say of what they are: `ids`, `items` of `{"id": …}`, a body that is a list of them.

What merges, restores or orders things takes them. Which things these are is told by the path at most.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.parameter import LISTS
from gateway.policy.openapi.translation import Translation
from gateway.policy.openapi.vocabulary import singular, snake_name
from gateway.policy.openapi.wording import comment

# What names one thing and no other.
IDS = frozenset({"guid", "id", "pk", "uid", "uuid"})
# Whatever an API has is called so.
_ANYTHING = frozenset(
    {
        *("element", "entity", "entry", "item", "model", "object", "other", "record", "resource", "row", "selected"),
        "thing",
    }
)
# Lists of anything, too.
_HOLDERS = _ANYTHING | {"body", "change", "data", "input", "list", "order", "payload", "update", "value"}


@dataclass(frozen=True, slots=True)
class BareId:
    """As it is told of its operation: between brackets behind it, and as a sentence begins."""

    told: str
    sentence: str


_BODY = BareId("its body is a list", "its body is a list")


def bare_ids(operation: Operation, path: Translation) -> Iterator[BareId]:
    """But for those of what the operation itself makes, and of parts of what its path names."""
    last = path.last.lower()
    is_of_many = not path.whole and singular(last) != last
    # `DELETE /docs/{id}/comments` with the `ids` of some of these.
    is_of_parts = is_of_many and bool(path.slots)
    is_new = is_of_many and operation.method == "POST"
    if not is_of_parts or operation.method != "DELETE":
        yield from _several(operation)
    if not path.whole and not is_of_many:
        yield from _single(operation)
    if not path.whole and not is_of_parts and not is_new:
        yield from _in_objects(operation)


def _several(operation: Operation) -> Iterator[BareId]:
    """None is of a new thing: that has one id."""
    for where, kinds in (("query", operation.query), ("body", operation.body.kinds)):
        for name, kind in kinds.items():
            told = snake_name(name).split("_")
            of_ids = _is_bare(told) and (kind in LISTS or told[-1] not in IDS)
            if of_ids or (kind in LISTS - {"list"} and _ANYTHING.issuperset(map(singular, told))):
                yield _named(name, where)
    if operation.body.is_ids:
        yield _BODY


def _single(operation: Operation) -> Iterator[BareId]:
    """Which no request is without."""
    body = operation.body
    members = {} if body.within == "[]" else {name: body.kinds[name] for name in body.required}
    wanted = {name: operation.query[name] for name in operation.wanted if name in operation.query}
    for where, kinds in (("query", wanted), ("body", members)):
        for name in sorted(kinds):
            told = snake_name(name).split("_")
            if kinds[name] not in LISTS and told[-1] in IDS and _is_bare(told):
                yield _named(name, where)


def _in_objects(operation: Operation) -> Iterator[BareId]:
    """Of objects, and of the items of lists, that are called as no kind of thing."""
    body = operation.body
    if body.within == "[]" and not IDS.isdisjoint(body.kinds):
        yield _BODY
    for name, inner in body.listed.items():
        if not IDS.isdisjoint(inner) and _HOLDERS.issuperset(map(singular, snake_name(name).split("_"))):
            yield _named(name, "body", ", each with its id")
    for name in sorted(body.with_ids):
        if _ANYTHING.issuperset(snake_name(name).split("_")):
            yield _named(name, "body", " with its `id`")


def _named(name: str, where: str, more: str = "") -> BareId:
    return BareId(f"`{comment(name)}`{more}", f"its {where} has `{comment(name, 60)}`{more}")


def _is_bare(told: Iterable[str]) -> bool:
    return (IDS | _ANYTHING).issuperset(map(singular, told)) and not IDS.isdisjoint(map(singular, told))
