"""The names of a form's fields: how the object that a document describes is spelled in one (OpenAPI 3.1, 4.8.15)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import islice

from gateway.policy.finding import Wrong
from gateway.policy.openapi.body import schemas_in
from gateway.policy.openapi.listed import Listed
from gateway.policy.openapi.members import Members, may_be_object, members_of
from gateway.policy.openapi.tree import Node, Tree, items_of, text_of
from gateway.policy.reading.formbody import parse_field

_SCHEMAS = 200
_BRANCHES = 20
_SHOWN = 60


def fields_of(tree: Tree, media: Node, *, is_multipart: bool) -> tuple[str, ...] | Wrong:
    """Wrong says why a list of them would not be all."""
    members = members_of(tree, media.get("schema"))
    if members is None:
        return Wrong("it may have fields that the document does not name")
    described, encoding = _described(tree, media.get("schema")), media.get("encoding")
    fields: dict[str, None] = {}
    for member in members:
        said = encoding.get(member) if isinstance(encoding, Mapping) else None
        own = _spelled(tree, member, described[member], said, is_multipart=is_multipart)
        if isinstance(own, Wrong):
            return own
        fields |= dict.fromkeys(own)
    return tuple(fields)


def values_of_fields(tree: Tree, media: Node) -> Mapping[str, tuple[str, ...]]:
    """By the name of a field all texts that it may be, where that is told: of fields that are called as the members."""
    members = members_of(tree, media.get("schema")) or {}
    listed = ((member, below.texts) for member, below in members.items() if isinstance(below, Listed))
    return {member: texts for member, texts in listed if texts is not None and parse_field(member) == member}


def bracketed(tree: Tree, name: str, schema: object) -> Mapping[str, tuple[str, ...] | None] | None:
    """An object as `deepObject` spells it: `filter[status]`, with all texts that each may be, where that is told.
    None: it may have other members, or be none."""
    members = members_of(tree, schema)
    return None if members is None else dict(_bracketed(name, members))


def _bracketed(name: str, members: Members) -> Iterator[tuple[str, tuple[str, ...] | None]]:
    for member, below in members.items():
        inner = f"{name}[{member}]"
        if isinstance(below, Mapping) and below:
            yield from _bracketed(inner, below)
        else:
            yield inner, below.texts if isinstance(below, Listed) else None


def _described(tree: Tree, schema: object) -> Mapping[str, list[object]]:
    """By the name of each member what is said of it."""
    found: defaultdict[str, list[object]] = defaultdict(list)
    top = tree.resolved(schema)
    for one in islice(schemas_in(tree, top), _SCHEMAS) if not isinstance(top, Wrong) else ():
        members = one.get("properties")
        for name, value in members.items() if isinstance(members, Mapping) else ():
            found[name].append(value)
    return found


def _spelled(
    tree: Tree, member: str, described: list[object], said: object, *, is_multipart: bool
) -> tuple[str, ...] | Wrong:
    if is_multipart:
        if any(_is_file(tree, one) for one in described):
            return Wrong(f"it has a file (`{member[:_SHOWN]}`), and with a list bodies are read whole")
        return (member,)
    if not any(tree.once(may_be_object, each) for one in described for each in (one, _item(tree, one))):
        return (member,)
    # Of an object without a style, and of a list of objects, clients differ.
    is_deep = isinstance(said, Mapping) and text_of(said.get("style")) == "deepObject"
    fields = bracketed(tree, member, described[0]) if is_deep and len(described) == 1 else None
    return tuple(fields or ()) or Wrong(f"it has `{member[:_SHOWN]}`, whose fields the document does not name")


def _item(tree: Tree, schema: object) -> object:
    found = tree.resolved(schema)
    return None if isinstance(found, Wrong) else found.get("items")


def _is_file(tree: Tree, schema: object) -> bool:
    found = tree.resolved(schema)
    if isinstance(found, Wrong):
        return False
    of_items = tree.resolved(found.get("items"))
    branches = (one for name in ("anyOf", "oneOf", "allOf") for one in items_of(found.get(name), _BRANCHES))
    every = [found, of_items, *map(tree.resolved, branches)]
    return any(_is_bytes(one) for one in every if not isinstance(one, Wrong))


def _is_bytes(schema: Node) -> bool:
    return schema.get("format") == "binary" or ("contentMediaType" in schema and "contentEncoding" not in schema)
