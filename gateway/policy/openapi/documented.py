"""All that a document names of what an operation's requests say: what an `only` of its rule may list.

A list that leaves out what an honest client sends would refuse it. So where a document lets a request say what it does
not name, nothing is listed of that part, and the reason is told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from gateway.core.caller import is_control_header, overrides_request
from gateway.core.request import Headers
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_to_list
from gateway.policy.openapi.form_fields import bracketed, fields_of, values_of_fields
from gateway.policy.openapi.left_out import left_out
from gateway.policy.openapi.listed import Listed, either, listed_by
from gateway.policy.openapi.listed_whole import listed_whole
from gateway.policy.openapi.media import FORM, JSON, JSON_TOO, MULTIPART, content_of, ends_in_json, plain_type
from gateway.policy.openapi.members import may_be_object, members_of, pointers, values_at
from gateway.policy.openapi.parameter import parameters
from gateway.policy.openapi.tree import Node, Tree, is_true, security_schemes, text_of
from gateway.policy.reading.ordinary_headers import CONDITIONS, is_needed

# In a patch of this type a null takes out whatever stands there, an object too.
_MERGE_PATCH = "application/merge-patch+json"
# Of one rule, beyond which it lists the members of fewer levels.
_POINTERS = 40
_TYPES = 50
_SHOWN = 60
_FREE = "which has members that the document does not name"
Part = Literal["query", "json", "form", "header"]
# By the name of a parameter, a field or a header, or by a pointer, all that may stand there.
Values = Mapping[str, Listed]


@dataclass(frozen=True, slots=True)
class Documented:
    """The names of a query's parameters, the pointers into a JSON body, and the names of a form's fields; None where
    it is not all of them, and `why`. `header`: those beyond what clients send unasked; with `Cookie`, if any is named.
    `values`: of some of these all that may stand there. `left_out`: pointers to what only answers have; `whole`:
    to listed objects of which it is not listed what is below.
    """

    query: tuple[str, ...] | None = ()
    json: tuple[str, ...] | None = None
    form: tuple[str, ...] | None = None
    why: str = ""
    header: tuple[str, ...] = ()
    values: Mapping[Part, Values] = field(default_factory=dict)
    left_out: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


def documented(tree: Tree, item: Node, operation: Node) -> Documented:
    """Of one operation, with what its path says for all of its methods."""
    query = _query(tree, item, operation)
    if isinstance(query, Wrong):
        return Documented(None, why=query.message)
    headers = _headers(tree, item, operation)
    header, values = tuple(headers), _told({"query": query, "header": headers})
    if "requestBody" not in operation:
        return Documented(tuple(query), (), header=header, values=values)
    body = _body(tree, operation)
    if isinstance(body, Wrong):
        return Documented(tuple(query), why=body.message, header=header, values=values)
    json, form = body.get("json"), body.get("form")
    every = values | _told({"json": json or {}, "form": form or {}})
    passing = json if json is not None else [f"/{name}" for name in form or ()]
    schemas = [media.get("schema") for media in content_of(tree, operation).values() if isinstance(media, Mapping)]
    return Documented(
        tuple(query),
        None if json is None else tuple(json),
        None if form is None else tuple(form),
        header=header,
        values=every,
        left_out=tuple(dict.fromkeys(one for schema in schemas for one in left_out(tree, schema, passing))),
        whole=tuple(dict.fromkeys(one for schema in schemas for one in listed_whole(tree, schema, json or ()))),
    )


# The same, None where anything may stand there.
_Names = Mapping[str, Listed | None]


def _told(names: Mapping[Part, _Names]) -> dict[Part, Values]:
    told = {part: {name: one for name, one in some.items() if one is not None} for part, some in names.items()}
    return {part: some for part, some in told.items() if some}


def _query(tree: Tree, item: Node, operation: Node) -> _Names | Wrong:
    names: dict[str, Listed | None] = dict.fromkeys(
        name for place, name in _keys(tree) if place == "query" and name.isprintable() and name
    )
    for found in parameters(tree, item, operation):
        if isinstance(found, Wrong):
            return Wrong("a parameter was not read")
        if found.get("in") != "query":
            continue
        own = _names(tree, found)
        if own is None or not all(name and name.isprintable() for name in own):
            return Wrong(f"its query has `{text_of(found.get('name'))[:_SHOWN]}`, {_FREE}")
        names |= own
    return names


def _headers(tree: Tree, item: Node, operation: Node) -> _Names:
    """Each once, whatever its case. Those that no client could send are left out: the gateway's own, and those that
    would make another request of it. What is dropped unless it is listed is named here, and so is listed."""
    found = [one for one in parameters(tree, item, operation) if not isinstance(one, Wrong)]
    named = [(text_of(one.get("in")), text_of(one.get("name"))) for one in found]
    described = {
        name.lower(): one.get("schema") for (place, name), one in zip(named, found, strict=True) if place == "header"
    }
    names: dict[str, Listed | None] = {}
    known: set[bytes] = set()
    for place, parameter in (*named, *_keys(tree)):
        name = "Cookie" if place == "cookie" else parameter
        lower = header_to_list(name) if place in ("header", "cookie") else None
        if not isinstance(lower, bytes) or lower in known or (is_needed(lower) and lower not in CONDITIONS):
            continue
        if is_control_header(lower) or overrides_request(Headers(((lower, b""),))) is not None:
            continue
        known.add(lower)
        names[name] = _texts(listed_by(tree, described.get(name.lower())))
    return names


def _keys(tree: Tree) -> Iterator[tuple[str, str]]:
    """Where callers show a key of theirs, and its name there."""
    for scheme in security_schemes(tree):
        if scheme.get("type") == "apiKey":
            yield text_of(scheme.get("in")), text_of(scheme.get("name"))


def _names(tree: Tree, parameter: Node) -> _Names | None:
    """As OpenAPI 3.1 (section 4.8.12) has them spelled in a query; None: they may be others."""
    name, schema = text_of(parameter.get("name")), parameter.get("schema")
    style = text_of(parameter.get("style")) or "form"
    if style == "deepObject":
        inner = bracketed(tree, name, schema)
        return None if inner is None else {one: _listed(texts) for one, texts in inner.items()}
    is_one = style != "form" or parameter.get("explode", "true") in (False, "false")
    if "content" in parameter or is_one or not may_be_object(tree, schema):
        return {name: None if "content" in parameter else _of_parameter(tree, parameter, is_one=is_one)}
    members = members_of(tree, schema)
    # How an object within one is spelled, no specification says.
    if members is None or any(isinstance(one, Mapping) and one for one in members.values()):
        return None
    return {member: _texts(one) if isinstance(one, Listed) else None for member, one in members.items()}


def _of_parameter(tree: Tree, parameter: Node, *, is_one: bool) -> Listed | None:
    """A list has its items in several parameters, or in one with marks in between, whose values nobody lists."""
    listed = listed_by(tree, parameter.get("schema"))
    if listed is None or is_true(parameter.get("allowEmptyValue")):
        return None
    return _listed(listed.texts if is_one else listed.texts or listed.texts_of_items)


def _texts(listed: Listed | None) -> Listed | None:
    return None if listed is None else _listed(listed.texts)


def _listed(texts: tuple[str, ...] | None) -> Listed | None:
    return None if texts is None else Listed(texts)


def _body(tree: Tree, operation: Node) -> Mapping[str, _Names] | Wrong:
    """What is listed for JSON, and for forms."""
    content = list(content_of(tree, operation).items())[: _TYPES + 1]
    if not content or len(content) > _TYPES:
        return Wrong("it is not described")
    lists: dict[str, dict[str, Listed | None]] = {}
    types = {plain_type(name) for name, _ in content}
    for name, described in content:
        own = plain_type(name)
        if own in JSON_TOO and JSON in types:
            continue
        kind = "json" if own == JSON or ends_in_json(own) else "form" if own in (FORM, MULTIPART) else None
        if kind is None:
            return Wrong(f"it may be `{own[:_SHOWN]}`, whose members no list names")
        media = described if isinstance(described, Mapping) else {}
        found = _members(tree, media, own) if kind == "json" else _fields(tree, media, own, MULTIPART in types)
        if isinstance(found, Wrong):
            return found
        listed = lists.setdefault(kind, {})
        for one, values in found.items():
            listed[one] = _either(listed[one], values) if one in listed else values
    return lists


def _either(one: Listed | None, other: Listed | None) -> Listed | None:
    return None if one is None or other is None else either(one, other)


def _members(tree: Tree, media: Node, name: str) -> _Names | Wrong:
    members = members_of(tree, media.get("schema"))
    if members is None:
        return Wrong("it is no JSON object, or one with members that the document does not name")
    found = pointers(members, 0 if name == _MERGE_PATCH else _POINTERS)
    values = values_at(members, found)
    if name == _MERGE_PATCH:
        values = {pointer: one.or_null for pointer, one in values.items()}
    return {pointer: values.get(pointer) for pointer in found}


def _fields(tree: Tree, media: Node, name: str, is_any_multipart: bool) -> _Names | Wrong:
    """Of parts no values are read, whatever else a form may be."""
    found = fields_of(tree, media, is_multipart=name != FORM)
    if isinstance(found, Wrong):
        return found
    values = {} if is_any_multipart else values_of_fields(tree, media)
    return {one: _listed(values.get(one)) for one in found}
