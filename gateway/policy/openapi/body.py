"""Which members the body of an operation has at its top, or in the one object that it has."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from gateway.policy.finding import Wrong
from gateway.policy.openapi.media import FORM, JSON, content_of, plain_type
from gateway.policy.openapi.parameter import Kind, kind_of
from gateway.policy.openapi.tree import ALTERNATIVES, Node, Tree, is_true, items_of
from gateway.policy.openapi.vocabulary import singular, words

_MEMBERS = 500
_MERGED = 20
# A schema may be made of itself.
_SCHEMAS = 100
_NESTED = 4
_MADE_OF = ("allOf", *ALTERNATIVES)
_ATTRIBUTES = "attributes"
# What an id may be: of text that is said more of, it is none.
_IDS: frozenset[Kind] = frozenset({"hexadecimal", "integer", "text", "ulid", "uuid"})
# A member that holds all that is said, and not one that refers to another thing.
_HOLDERS = frozenset(
    {
        _ATTRIBUTES,
        "body",
        "data",
        "entity",
        "input",
        "item",
        "model",
        "object",
        "payload",
        "record",
        "request",
        "resource",
    }
)


@dataclass(frozen=True, slots=True)
class BodyMembers:
    """By the name of each member at the top what it is, but for those that only answers have.

    `exact`: the body is JSON in any case, and of one schema that the document spells out. `required`: members that no
    body is without. `is_file`: the body is neither JSON nor a form, so that its names cannot be read. `within`: the one
    member at the top, whose object has those told here, as JSON:API's `data`; of a list of objects `[]`. `with_ids`:
    those that are an object with an id of its own. `listed`: by the name of each that is a list of objects what these
    have; `is_ids`: the body is a list of what may be ids.
    """

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    exact: bool = False
    required: frozenset[str] = frozenset()
    is_file: bool = False
    within: str = ""
    with_ids: frozenset[str] = frozenset()
    listed: Mapping[str, frozenset[str]] = field(default_factory=dict)
    is_ids: bool = False


def body_members(tree: Tree, operation: Node, path: str = "") -> BodyMembers:
    """Those of all its types of media, and of schemas that are merged or one of which holds. Rails has those of a thing
    in a member that is called as one of its `path`'s collection.
    """
    content = content_of(tree, operation)
    media = list(content.items())[:_MERGED]
    found: list[Node] = []
    plain = True
    for _, described in media:
        schema = tree.resolved(described.get("schema") if isinstance(described, Mapping) else None)
        if isinstance(schema, Wrong):
            plain = False
            continue
        plain = plain and not any(name in schema for name in _MADE_OF)
        found += islice(schemas_in(tree, schema), _SCHEMAS)
    kinds, within = _kinds(tree, found), ""
    lists = [one for one in found if "items" in one]
    if len(kinds) < 2:
        member = next(iter(kinds), None)
        within, inner = ("", []) if member and not _holds_all(member, path) else _within(tree, found, member)
        kinds, found = (_kinds(tree, inner), inner) if within else (kinds, found)
    required = {name for one in found for name in _required(one)}
    exact = plain and not within and [name for name, _ in media] == [JSON]
    is_file = bool(media) and not any(_is_read(name) for name, _ in media)
    with_ids = {name for one in found for name in _with_ids(tree, one)}
    return BodyMembers(
        kinds=kinds,
        exact=exact,
        required=frozenset(required & kinds.keys()),
        is_file=is_file,
        within=within,
        with_ids=frozenset(with_ids & kinds.keys()),
        listed={name: inner for name, inner in _listed(tree, found).items() if name in kinds},
        is_ids=not within and any(tree.once(kind_of, one["items"]) in _IDS for one in lists),
    )


def _holds_all(member: str, path: str) -> bool:
    texts = [words(piece) for piece in path[:2000].split("/") if piece and "{" not in piece]
    *told, last = (texts[-1] if texts else []) or [""]
    return member.lower() in _HOLDERS or words(member) == [*told, singular(last)]


def _within(tree: Tree, schemas: list[Node], member: str | None) -> tuple[str, list[Node]]:
    """What a body consists of, if that is one object or a list of them. JSON:API has what a thing is made of another
    level below.
    """
    if member is None:
        inner = [each for one in schemas for each in _below(tree, one.get("items"))]
    else:
        inner = _member(tree, schemas, member)
    if not _kinds(tree, inner):
        return "", []
    return member or "[]", [*inner, *_member(tree, inner, _ATTRIBUTES)]


def _member(tree: Tree, schemas: list[Node], name: str) -> list[Node]:
    """The schemas of one member."""
    described = [one["properties"].get(name) for one in schemas if isinstance(one.get("properties"), Mapping)]
    return [each for one in described for each in _below(tree, one)][:_SCHEMAS]


def _below(tree: Tree, value: object) -> list[Node]:
    schema = tree.resolved(value)
    return [] if isinstance(schema, Wrong) else list(islice(schemas_in(tree, schema), _SCHEMAS))


def _is_read(name: object) -> bool:
    plain = plain_type(name)
    return plain in (JSON, FORM) or plain.endswith("+json")


def schemas_in(tree: Tree, schema: Node) -> Iterator[Node]:
    """It, and what it is made of."""
    return _schemas_in(tree, schema, 0, {})


def _schemas_in(tree: Tree, schema: Node, depth: int, seen: dict[int, int]) -> Iterator[Node]:
    """`seen`: at which depth each schema was; what is made of itself, many times over, comes once at each."""
    if seen.get(id(schema), _NESTED + 1) <= depth:
        return
    seen[id(schema)] = depth
    yield schema
    listed = (items_of(schema.get(name), _MERGED) for name in _MADE_OF) if depth < _NESTED else ()
    for one in (one for some in listed for one in some):
        found = tree.resolved(one)
        if not isinstance(found, Wrong):
            yield from _schemas_in(tree, found, depth + 1, seen)


def _required(schema: Node) -> set[str]:
    return {name for name in items_of(schema.get("required"), _MEMBERS) if isinstance(name, str)}


def _with_ids(tree: Tree, schema: Node) -> Iterator[str]:
    members = schema.get("properties")
    for name, value in list(members.items())[:_MEMBERS] if isinstance(members, Mapping) else ():
        described = tree.resolved(value)
        own = None if isinstance(described, Wrong) else described.get("properties")
        if isinstance(name, str) and isinstance(own, Mapping) and "id" in own:
            yield name


def _listed(tree: Tree, schemas: list[Node]) -> dict[str, frozenset[str]]:
    """Members that are lists of objects, each with what these have."""
    found: dict[str, frozenset[str]] = {}
    for members in (one.get("properties") for one in schemas):
        for name, value in list(members.items())[:_MEMBERS] if isinstance(members, Mapping) else ():
            inner = tree.once(_in_items, value)
            if isinstance(name, str) and inner:
                found[name] = found.get(name, frozenset()) | inner
    return found


def _in_items(tree: Tree, value: object) -> frozenset[str]:
    lists = [one["items"] for one in _below(tree, value) if "items" in one][:_MERGED]
    return frozenset(name for items in lists for name in _kinds(tree, _below(tree, items)))


def _kinds(tree: Tree, schemas: list[Node]) -> dict[str, Kind]:
    return {name: kind for one in schemas for name, kind in _members(tree, one).items()}


def _members(tree: Tree, schema: Node) -> dict[str, Kind]:
    members = schema.get("properties")
    kinds: dict[str, Kind] = {}
    for name, value in list(members.items())[:_MEMBERS] if isinstance(members, Mapping) else ():
        described = tree.resolved(value)
        only_answered = not isinstance(described, Wrong) and is_true(described.get("readOnly"))
        if isinstance(name, str) and not only_answered:
            kinds[name] = tree.once(kind_of, value)
    return kinds
