"""Ids that a query or a body has to have, called as another path's placeholder: `POST /ban` with `user_id`. Lists of
them: `user_ids`, and `users` that are numbers. And objects with an id, called as one of another path's: `user: {id}`.

Whoever holds what `/users/{user_id}` names is not asked then. Most are only told, as by a comment what it is about.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.segment import Slot
from gateway.policy.openapi.translation import Translation
from gateway.policy.openapi.vocabulary import GENERIC, VAGUE, singular, snake_name, words
from gateway.policy.openapi.wording import comment, some_of

# Called so is what is done, or how, and seldom which.
_VAGUE = VAGUE | {"status"}


def ids_of_others(ruled: Iterable[tuple[Operation, Translation, str]]) -> Iterator[str]:
    """A question for each name; each operation with its path and resource."""
    every = list(ruled)
    named: dict[str, str] = {}
    numbers: dict[str, str] = {}
    things: dict[str, str] = {}
    for operation, path, _ in every:
        last = path.segments[path.kept - 1] if path.kept else None
        before = path.segments[path.kept - 2] if path.kept > 1 else None
        if isinstance(last, Slot) and not GENERIC.issuperset(words(last.name)) and _VAGUE.isdisjoint(words(last.name)):
            named.setdefault(snake_name(last.name), operation.path)
            if isinstance(before, str):
                numbers.setdefault(snake_name(before), snake_name(last.name))
        if isinstance(last, Slot) and isinstance(before, str):
            thing = singular(snake_name(before))
            things.setdefault(thing, operation.path)
            if GENERIC.issuperset(words(last.name)):
                # `/users/{id}` is asked of as `/users/{user_id}` is.
                named.setdefault(f"{thing}_id", operation.path)
    found: defaultdict[str, list[str]] = defaultdict(list)
    for operation, path, resource in every:
        own = {snake_name(one.name) for one in path.slots}
        above = {singular(snake_name(one)) for one in path.segments if isinstance(one, str)}
        own |= {f"{thing}_id" for thing in above}
        for name in sorted(operation.wanted | operation.body.required):
            id_name = snake_name(name)
            kind = operation.query.get(name) or operation.body.kinds.get(name)
            if kind == "integers":
                id_name = numbers.get(id_name, id_name)
            if kind in ("integers", "list") and id_name not in named:
                id_name = singular(id_name)
            if id_name in named and id_name not in own and f"{{json:/{name}}}" not in resource:
                found[id_name].append(f"{operation} (`{comment(name)}`)")
        for name in sorted(operation.body.with_ids):
            thing = snake_name(name)
            if thing in things and thing not in above and f"{{json:/{name}/id}}" not in resource:
                named.setdefault(f"{thing}/id", things[thing])
                found[f"{thing}/id"].append(f"{operation} (`{comment(name)}` with its `id`)")
    for id_name, operations in found.items():
        yield (
            f"what the path does not name, but {some_of(operations)}: does it write what `{comment(named[id_name])}` "
            "writes? If so let its `resource` be the same (`{json:/NAME}`, `{query.NAME}`), or close it where it takes "
            "a list: they are fenced apart"
        )
