"""Ids that a query, a header, a cookie or a body has, called as another path's placeholder: `POST /ban` with `user_id`.
Lists of them: `user_ids`, `users` that are numbers, objects with a `user_id`. Objects with an id, called as one of
another path's: `user: {id}`. And ids that are called as nothing: `POST /restore` with `ids`.

Whoever holds what `/users/{user_id}` names is not asked then. Most are only told, as by a comment what it is about.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.policy.openapi.account_header import may_choose_account
from gateway.policy.openapi.bare_ids import IDS, bare_ids
from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.parameter import LISTS
from gateway.policy.openapi.segment import Slot
from gateway.policy.openapi.translation import Translation
from gateway.policy.openapi.vocabulary import GENERIC, VAGUE, singular, snake_name, words
from gateway.policy.openapi.wording import comment, some_of

# Called so is what is done, or how, and seldom which.
_VAGUE = VAGUE | {"status"}


@dataclass(frozen=True, slots=True)
class Ruled:
    """An operation with its path and resource. `is_asked`: of its path whether it writes what another one does."""

    operation: Operation
    path: Translation
    resource: str
    is_asked: bool


def ids_of_others(ruled: Iterable[Ruled]) -> Iterator[str]:
    """A question for each name."""
    every = list(ruled)
    known = _Known(every)
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for each in every:
        for written, told in known.named_by(each):
            found[written][f"{each.operation} ({told})"] = None
    for written, operations in found.items():
        yield (
            f"what the path does not name, but {some_of(list(operations))}: does it write what {written} writes? If so "
            "let its `resource` be the same (`{json:/NAME}`, `{query.NAME}`), or close it where it takes a list: they "
            "are fenced apart"
        )


class _Known:
    """What the paths of rules name: by the name of an id, of a collection and of one of it."""

    def __init__(self, every: Iterable[Ruled]) -> None:
        self._ids: dict[str, str] = {}
        self._of_many: dict[str, str] = {}
        self._things: dict[str, str] = {}
        for each in every:
            path = each.path
            last = path.segments[path.kept - 1] if path.kept else None
            before = path.segments[path.kept - 2] if path.kept > 1 else None
            if not isinstance(last, Slot):
                continue
            told, example = words(last.name), each.operation.path
            is_told = not GENERIC.issuperset(told) and _VAGUE.isdisjoint(told)
            if is_told:
                self._ids.setdefault(snake_name(last.name), example)
            if isinstance(before, str):
                thing = singular(snake_name(before))
                self._things.setdefault(thing, example)
                # `/users/{id}` is asked of as `/users/{user_id}` is.
                if GENERIC.issuperset(told):
                    self._ids.setdefault(f"{thing}_id", example)
                if is_told or GENERIC.issuperset(told):
                    self._of_many.setdefault(snake_name(before), snake_name(last.name) if is_told else f"{thing}_id")

    def named_by(self, each: Ruled) -> Iterator[tuple[str, str]]:
        """The path that writes what a request may name, and what names it."""
        yield from self._by_name(each)
        yield from self._by_objects(each)
        # Behind a placeholder it is another end of what that names.
        if self._things and not each.is_asked and not each.path.slots:
            written = self._of_path(each.path)
            yield from ((written, one.told) for one in bare_ids(each.operation, each.path))

    def _by_name(self, each: Ruled) -> Iterator[tuple[str, str]]:
        operation, own = each.operation, _own(each.path)
        own_of_several = _own(each.path, is_asked=each.is_asked, of_several=True)
        for name in sorted(operation.wanted | operation.cookies | operation.body.required):
            id_name = snake_name(name)
            kind = operation.query.get(name) or operation.body.kinds.get(name)
            if kind in LISTS - {"list"}:
                id_name = self._of_many.get(id_name, id_name)
            if id_name not in self._ids and (kind in LISTS or id_name.endswith("_ids")):
                id_name = singular(id_name)
            is_own = id_name in (own_of_several if id_name != snake_name(name) else own)
            if id_name in self._ids and not is_own and f"{{json:/{name}}}" not in each.resource:
                cookie = "" if kind else "cookie "
                yield f"`{comment(self._ids[id_name])}`", f"{cookie}`{comment(name)}`"
        for header in operation.headers:
            id_name = snake_name(header.name).removeprefix("x_")
            if id_name in self._ids and id_name not in own and not may_choose_account(header):
                yield f"`{comment(self._ids[id_name])}`", f"header `{comment(header.name)}`"

    def _by_objects(self, each: Ruled) -> Iterator[tuple[str, str]]:
        body, own = each.operation.body, _own(each.path)
        for name in sorted(body.with_ids):
            thing = snake_name(name)
            if thing in self._things and f"{thing}_id" not in own and f"{{json:/{name}/id}}" not in each.resource:
                yield f"`{comment(self._things[thing])}`", f"`{comment(name)}` with its `id`"
        # Of what each item has it is told already.
        own = _own(each.path, is_asked=each.is_asked, of_several=True)
        whole = {"[]": frozenset(body.kinds) - body.required} if body.within == "[]" else {}
        for name, inner in {**body.listed, **whole}.items():
            is_whole = name in whole
            listed = "its body" if is_whole else f"`{comment(name)}`"
            thing = singular(snake_name(name))
            if not is_whole and thing in self._things and f"{thing}_id" not in own and not IDS.isdisjoint(inner):
                yield f"`{comment(self._things[thing])}`", f"{listed}, each with its id"
            for one in sorted(inner):
                id_name = snake_name(one)
                if id_name in self._ids and id_name not in own and id_name.rpartition("_")[2] in IDS:
                    yield f"`{comment(self._ids[id_name])}`", f"{listed}, each with its `{comment(one)}`"

    def _of_path(self, path: Translation) -> str:
        """What ids without a name are most likely of: `/trash/restore/docs`."""
        told = (singular(snake_name(one)) for one in reversed(path.segments) if isinstance(one, str))
        found = next((self._things[one] for one in told if one in self._things), None)
        if found is not None:
            return f"`{comment(found)}`"
        first, *others = self._things.values()
        return f"`{comment(first)}`{' or another path' if others else ''}"


def _own(path: Translation, *, is_asked: bool = True, of_several: bool = False) -> frozenset[str]:
    """The ids that the path has itself. A create may bring that of what it makes, and not several of them; where it is
    asked already whether it writes the others, that is enough.
    """
    is_last = isinstance(path.segments[-1], str) if path.segments else False
    texts = path.segments[:-1] if is_last and of_several and not is_asked else path.segments
    above = {singular(snake_name(one)) for one in texts if isinstance(one, str)}
    return frozenset({*(snake_name(one.name) for one in path.slots), *(f"{thing}_id" for thing in above)})
