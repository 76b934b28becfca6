"""The body of an operation: which members its JSON has at the top."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gateway.policy.finding import Wrong
from gateway.policy.openapi.parameter import Kind, kind_of
from gateway.policy.openapi.tree import Node, Tree

_MEMBERS = 500
_MERGED = 20


@dataclass(frozen=True, slots=True)
class BodyMembers:
    """By the name of each member at the top what it is, but for those that only answers have.

    `exact`: the body is JSON in any case, and of one schema that the document spells out.
    """

    kinds: Mapping[str, Kind] = field(default_factory=dict)
    exact: bool = False


def body_members(tree: Tree, operation: Node) -> BodyMembers:
    """Those of all its types of media, and of schemas that are merged (`allOf`)."""
    body = tree.resolved(operation.get("requestBody"))
    content = None if isinstance(body, Wrong) else body.get("content")
    kinds: dict[str, Kind] = {}
    media = list(content.items())[:_MERGED] if isinstance(content, Mapping) else []
    plain = True
    for _, described in media:
        schema = tree.resolved(described.get("schema") if isinstance(described, Mapping) else None)
        if isinstance(schema, Wrong):
            plain = False
            continue
        plain = plain and not any(name in schema for name in ("allOf", "oneOf", "anyOf"))
        for one in (schema, *_merged(tree, schema)):
            kinds |= _members(tree, one)
    return BodyMembers(kinds, exact=plain and [name for name, _ in media] == ["application/json"])


def _merged(tree: Tree, schema: Node) -> list[Node]:
    listed = schema.get("allOf")
    found = [tree.resolved(one) for one in listed[:_MERGED]] if isinstance(listed, list) else []
    return [one for one in found if not isinstance(one, Wrong)]


def _members(tree: Tree, schema: Node) -> dict[str, Kind]:
    members = schema.get("properties")
    kinds: dict[str, Kind] = {}
    for name, value in list(members.items())[:_MEMBERS] if isinstance(members, Mapping) else ():
        described = tree.resolved(value)
        only_answered = not isinstance(described, Wrong) and described.get("readOnly") in (True, "true")
        if isinstance(name, str) and not only_answered:
            kinds[name] = kind_of(tree, value)
    return kinds
