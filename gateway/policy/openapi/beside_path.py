"""What an operation's body, query or headers may say beside its path of the very thing that the path names.

Django REST saves under the key that a body has, where that is writable; what saves a body as one object does so too.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from gateway.policy.openapi.operation import Operation
from gateway.policy.openapi.segment import Slot
from gateway.policy.openapi.translation import Translation
from gateway.policy.openapi.vocabulary import GENERIC, words
from gateway.policy.openapi.wording import comment, some_of
from gateway.policy.reading.lenient_name import folded
from gateway.policy.reading.overriding import overriding_among

# With which the name of a placeholder ends that the thing itself calls so.
_IDS = frozenset({"code", "guid", "id", "key", "pk", "slug", "uid", "uuid"})
_Ruled = Iterable[tuple[Operation, Translation]]


@dataclass(frozen=True, slots=True)
class NamesInBodies:
    """`named`: operations whose body has the name of their path's last placeholder, `within`: in an object within it or
    in a list; `by_id`: whose body has it under a shorter name. `refused`: those that would suffer if every body were
    looked at: files, and bodies that have something else under the name of a placeholder.
    """

    named: tuple[str, ...]
    within: tuple[str, ...]
    by_id: tuple[str, ...]
    refused: tuple[str, ...]

    @property
    def are_merged(self) -> bool:
        """Whether every body is to be looked at."""
        return bool(self.named) and not self.refused

    def asks(self) -> Iterator[str]:
        asked = f"does the API write what a body names, and not the path: {some_of(self.named)}?"
        if self.are_merged:
            yield (
                f"{asked} `names: merged` refuses another value than the path's, a renaming too; remove it where the "
                "API heeds the path alone"
            )
        elif self.named:
            yield (
                f"{asked} If so close bodies that have it (`when: {{json: {{/NAME: {{present: true}}}}}}`); "
                f"`mount: {{names: merged}}`, which looks at all bodies, would refuse {some_of(self.refused)}"
            )
        if self.within:
            yield (
                f"does the API write what a body names below its top, and not the path: {some_of(self.within)}? If so "
                "close bodies that have it (`when: {json: {/data/NAME: {present: true}}}`), or the operation: `names: "
                "merged` does not look there"
            )
        if self.by_id:
            yield (
                f"does the API write what the id in a body names, and not the path: {some_of(self.by_id)}? If so call "
                "the placeholder as the body does, and write `mount: {names: merged}`, which refuses another value"
            )


def names_in_bodies(ruled: _Ruled) -> NamesInBodies:
    """Of all operations that have rules."""
    named: dict[str, None] = {}
    within: dict[str, None] = {}
    by_id: list[str] = []
    refused: dict[str, None] = {}
    for operation, path in ruled:
        own = name_in_body(operation, path)
        its_id = own or _its_id(operation, path)
        if operation.body.within:
            within |= {f"{operation} (`{comment(its_id)}`)": None} if its_id else {}
        elif own is not None:
            named[f"{operation} (`{comment(own)}`)"] = None
        elif its_id is not None:
            by_id.append(f"{operation} (`{comment(its_id)}`)")
        if operation.body.is_file:
            refused[f"{operation} (no JSON, no plain form)"] = None
        elif not operation.body.within and (other := _other_in_body(operation, path, own)) is not None:
            refused[f"{operation} (`{comment(other)}`)"] = None
    return NamesInBodies(tuple(named), tuple(within), tuple(by_id), tuple(refused))


def name_in_body(operation: Operation, path: Translation) -> str | None:
    """The member of a body that may say which thing is written. Below a thing, `name` is that of a part of it."""
    if not path.slots or operation.method == "DELETE" or (not path.whole and _is_any(path.slots[-1].name)):
        return None
    return _members(operation).get(folded(path.slots[-1].name))


def _its_id(operation: Operation, path: Translation) -> str | None:
    """`id` in the body of `PUT /pets/{petId}`, `slug` in that of `PUT /pages/{page_slug}`; Django's `pk` is an `id`."""
    told = words(path.segments[-1].name) if path.whole and isinstance(path.segments[-1], Slot) else []
    if operation.method == "DELETE" or len(told) < 2 or told[-1] not in _IDS:
        return None
    members = _members(operation)
    return members.get(told[-1]) or (members.get("id") if told[-1] == "pk" else None)


def _other_in_body(operation: Operation, path: Translation, own: str | None) -> str | None:
    """A member that is called as a placeholder and is most likely none: `name` of `POST /boards/{name}/cards`."""
    members = _members(operation)
    called = (members.get(folded(one.name)) for one in path.slots if _is_any(one.name))
    return next((one for one in called if one not in (None, own)), None)


def _members(operation: Operation) -> dict[str, str]:
    return {folded(member): member for member in operation.body.kinds}


def _is_any(name: str) -> bool:
    return GENERIC.issuperset(words(name))


def names_elsewhere(ruled: _Ruled) -> Iterator[str]:
    """What is asked of names in queries, and told of those by which a request becomes another one."""
    in_query: list[str] = []
    overriding: defaultdict[str, list[str]] = defaultdict(list)
    for operation, path in ruled:
        slots = {folded(one.name) for one in path.slots}
        in_query += (f"{operation} (`{comment(name)}`)" for name in operation.query if folded(name) in slots)
        for name in _overriding(operation):
            overriding[comment(name)].append(str(operation))
    if in_query:
        yield (
            f"what is in the query that is called as a part of the path: {some_of(in_query)}? Another value there, or "
            "another spelling of the name, is refused; where it means something else, call the placeholder otherwise"
        )
    for name, operations in overriding.items():
        yield f"{some_of(operations)}: a request with `{name}` is refused, as it may be another one; send that itself"


def _overriding(operation: Operation) -> Iterator[str]:
    yield from (header.name for header in operation.headers if header.overrides_request)
    yield from (name for name in operation.query if overriding_among([name]) is not None)
