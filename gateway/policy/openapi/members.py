"""The members that a schema names, as deep as it says for certain that there are no others.

A schema of JSON forbids little: what it does not name may be there all the same. Here an object has the members that it
names unless it says that it takes more; where it does, where a null or a text may stand in its place, and where a
schema is made of itself, the names end.
"""

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass

from gateway.policy.finding import Wrong
from gateway.policy.openapi.listed import Listed, either, listed_by
from gateway.policy.openapi.tree import ALTERNATIVES, Node, Tree, alternatives, is_only_null, is_true, items_of
from gateway.policy.reading.jsonbody import parse_pointer

# By the name of each member what it names itself, or all that may stand there; None: whatever it is.
Members = Mapping[str, "Members | Listed | None"]

_NESTED = 6
_MEMBERS = 500
_BRANCHES = 100
# Of one operation. Some schemas are made of hundreds of others, many times over.
_SCHEMAS = 2000
# With one of these a schema has members, or conditions on them, that its `properties` do not tell.
_SURPRISES = ("patternProperties", "if", "then", "else", "dependentSchemas", "dependencies", "$dynamicRef")
# True, and a schema, let others in.
_OTHERS = ("additionalProperties", "unevaluatedProperties")
# Beside a reference they say more of what it leads to.
_SPEAKING = frozenset({"properties", "required", "allOf", "type", "nullable", *ALTERNATIVES, *_SURPRISES, *_OTHERS})


def members_of(tree: Tree, value: object) -> Members | None:
    """Those of an object that a body or a parameter is. None: it is none, or may have others."""
    return tree.once(_members_of, value)


def _members_of(tree: Tree, value: object) -> Members | None:
    return _Reading(tree, iter(range(_SCHEMAS))).top(value)


def may_be_object(tree: Tree, value: object) -> bool:
    """Whether a schema speaks of an object, be it among others."""
    return _may_be_object(tree, value, 0, iter(range(_SCHEMAS)))


def pointers(members: Members, most: int) -> tuple[str, ...]:
    """All members as JSON pointers, as deep as there are no more than `most`; those of the top in any case."""
    found = tuple(_pointers(members, 1))
    for depth in range(2, _NESTED + 2):
        deeper = tuple(_pointers(members, depth))
        if len(deeper) > most:
            break
        found = deeper
    return found


def values_at(members: Members, found: Container[str], above: str = "") -> Mapping[str, Listed]:
    """Of these pointers those at which all that may stand is told."""
    told: dict[str, Listed] = {}
    for name, below in members.items():
        pointer = above + token_of(name)
        if isinstance(below, Listed):
            told |= {pointer: below} if pointer in found else {}
        elif below is not None and pointer not in found:
            told |= values_at(below, found, pointer)
    return told


def _pointers(members: Members, depth: int) -> Iterator[str]:
    for name, below in members.items():
        pointer = token_of(name)
        if isinstance(below, Mapping) and below and depth > 1:
            yield from (f"{pointer}{deeper}" for deeper in _pointers(below, depth - 1))
        else:
            yield pointer


def token_of(name: str) -> str:
    return "/" + name.replace("~", "~0").replace("/", "~1")


@dataclass(frozen=True, slots=True)
class _Reading:
    tree: Tree
    left: Iterator[int]

    def top(self, value: object) -> Members | None:
        """A body of null is no body to most, and none that its caller needs."""
        while next(self.left, None) is not None:
            found = self._plain(value)
            branches = [] if found is None else alternatives(found, _BRANCHES)
            others = [one for one in branches if not _is_null(self.tree, one)]
            if len(others) != 1 or len(branches) == 1:
                break
            value = others[0]
        return self._object(value, frozenset(), is_part=False)

    def _plain(self, value: object) -> Node | None:
        """The schema, if it can be read; what stands beside a reference counts too (JSON Schema 2020-12)."""
        found = self.tree.resolved(value)
        is_alone = not isinstance(value, Mapping) or "$ref" not in value or _SPEAKING.isdisjoint(value)
        return found if not isinstance(found, Wrong) and is_alone else None

    def _object(self, value: object, above: frozenset[int], *, is_part: bool) -> Members | None:
        """`is_part`: of an object that is merged of several, each of which may say little."""
        schema = self._plain(value)
        if schema is None or id(schema) in above or len(above) > _NESTED * 2 or next(self.left, None) is None:
            return None
        if _is_open(schema, is_part=is_part) or schema.get("type", "object") not in ("object", ["object"]):
            return None
        above |= {id(schema)}
        found = self._own(schema, above)
        merged = [(one, True) for one in items_of(schema.get("allOf"), _BRANCHES)]
        merged += [(one, is_part or bool(found)) for one in alternatives(schema, _BRANCHES)]
        for one, part in merged:
            more = None if found is None else self._object(one, above, is_part=part)
            if found is None or more is None:
                return None
            found = _union(found, more)
        is_told = found or is_part or schema.get("additionalProperties") in (False, "false")
        return found if is_told else None

    def _own(self, schema: Node, above: frozenset[int]) -> Members | None:
        members, required = schema.get("properties", {}), items_of(schema.get("required"), _MEMBERS)
        if not isinstance(members, Mapping) or len(members) > _MEMBERS:
            return None
        # What is wanted and nowhere described may be told by another schema that is merged with this one.
        found: dict[str, Members | Listed | None] = {name: {} for name in required if isinstance(name, str)}
        for name, value in members.items():
            described = self.tree.resolved(value)
            if not isinstance(described, Wrong) and is_true(described.get("readOnly")):
                found.pop(name, None)
                continue
            found[name] = self._below(value, above) or self.tree.once(listed_by, value)
        return found if all(map(_is_listable, found)) else None

    def _below(self, value: object, above: frozenset[int]) -> Members | None:
        """Of what stands at a member: an object, or a list of them."""
        schema = self._plain(value)
        if schema is None or len(above) > _NESTED:
            return None
        is_list = schema.get("type") in ("array", ["array"])
        if is_list and ("prefixItems" in schema or any(name in schema for name in ("allOf", *ALTERNATIVES))):
            return None
        return self._object(schema.get("items") if is_list else value, above, is_part=False) or None


def _is_open(schema: Node, *, is_part: bool) -> bool:
    """Whether members may be there that nothing names, or a null."""
    if is_true(schema.get("nullable")) or any(name in schema for name in _SURPRISES):
        return True
    if any(schema.get(name, False) not in (False, "false") for name in _OTHERS):
        return True
    # What has kinds of its own is one of them in a request, each with more members.
    return "discriminator" in schema and not is_part and not alternatives(schema, _BRANCHES)


def _is_null(tree: Tree, value: object) -> bool:
    found = tree.resolved(value)
    return not isinstance(found, Wrong) and is_only_null(found)


def _is_listable(name: object) -> bool:
    """Whether a policy can name it, in any editor."""
    return isinstance(name, str) and name.isprintable() and not isinstance(parse_pointer(token_of(name)), Wrong)


def _union(one: Members, other: Members) -> Members:
    """What either names. Where the one takes anything, so do both."""
    both: dict[str, Members | Listed | None] = dict(one)
    for name, below in other.items():
        both[name] = _either(both[name], below) if name in both else below
    return both


def _either(one: Members | Listed | None, other: Members | Listed | None) -> Members | Listed | None:
    """What is wanted and nowhere described has no say."""
    if one is None or other is None:
        return None
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return _union(one, other)
    if isinstance(one, Listed) and isinstance(other, Listed):
        return either(one, other)
    if one == {} or other == {}:
        return one or other
    return None


def _may_be_object(tree: Tree, value: object, depth: int, left: Iterator[int]) -> bool:
    schema = tree.resolved(value)
    if isinstance(schema, Wrong) or depth > _NESTED or next(left, None) is None:
        return False
    of_type = schema.get("type")
    if "object" in (of_type if isinstance(of_type, list) else [of_type]) or "properties" in schema:
        return True
    merged = (*items_of(schema.get("allOf"), _BRANCHES), *alternatives(schema, _BRANCHES))
    return any(_may_be_object(tree, one, depth + 1, left) for one in merged)
