"""All that a document names of what an operation's requests say: what an `only` of its rule may list.

A list that leaves out what an honest client sends would refuse it. So where a document lets a request say what it does
not name, nothing is listed of that part, and the reason is told.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gateway.core.caller import is_control_header, overrides_request
from gateway.core.request import Headers
from gateway.policy.finding import Wrong
from gateway.policy.header_name import header_to_list
from gateway.policy.openapi.form_fields import bracketed, fields_of
from gateway.policy.openapi.media import FORM, JSON, JSON_TOO, MULTIPART, content_of, ends_in_json, plain_type
from gateway.policy.openapi.members import may_be_object, members_of, pointers
from gateway.policy.openapi.parameter import parameters
from gateway.policy.openapi.tree import Node, Tree, text_of
from gateway.policy.reading.ordinary_headers import is_idle, is_needed

# In a patch of this type a null takes out whatever stands there, an object too.
_MERGE_PATCH = "application/merge-patch+json"
# Of one rule, beyond which it lists the members of fewer levels.
_POINTERS = 40
_TYPES = _SCHEMES = 50
_SHOWN = 60
_FREE = "which has members that the document does not name"


@dataclass(frozen=True, slots=True)
class Documented:
    """The names of a query's parameters, the pointers into a JSON body, and the names of a form's fields; None where
    it is not all of them, and `why`. `header`: those beyond what clients send unasked; with `Cookie`, if any is named.
    """

    query: tuple[str, ...] | None = ()
    json: tuple[str, ...] | None = None
    form: tuple[str, ...] | None = None
    why: str = ""
    header: tuple[str, ...] = ()


def documented(tree: Tree, item: Node, operation: Node) -> Documented:
    """Of one operation, with what its path says for all of its methods."""
    query = _query(tree, item, operation)
    if isinstance(query, Wrong):
        return Documented(None, why=query.message)
    header = tuple(_headers(tree, item, operation))
    if "requestBody" not in operation:
        return Documented(query, (), header=header)
    body = _body(tree, operation)
    if isinstance(body, Wrong):
        return Documented(query, why=body.message, header=header)
    return Documented(query, *body, header=header)


def _query(tree: Tree, item: Node, operation: Node) -> tuple[str, ...] | Wrong:
    names = dict.fromkeys(name for place, name in _keys(tree) if place == "query" and name.isprintable() and name)
    for parameter in parameters(item, operation):
        found = tree.resolved(parameter)
        if isinstance(found, Wrong):
            return Wrong("a parameter was not read")
        if found.get("in") != "query":
            continue
        own = _names(tree, found)
        if own is None or not all(name and name.isprintable() for name in own):
            return Wrong(f"its query has `{text_of(found.get('name'))[:_SHOWN]}`, {_FREE}")
        names |= dict.fromkeys(own)
    return tuple(names)


def _headers(tree: Tree, item: Node, operation: Node) -> Iterator[str]:
    """Each once, whatever its case. Those that no client could send are left out: the gateway's own, and those that
    would make another request of it."""
    found = (tree.resolved(parameter) for parameter in parameters(item, operation))
    named = [(text_of(one.get("in")), text_of(one.get("name"))) for one in found if not isinstance(one, Wrong)]
    known: set[bytes] = set()
    for place, parameter in (*named, *_keys(tree)):
        name = "Cookie" if place == "cookie" else parameter
        lower = header_to_list(name) if place in ("header", "cookie") else None
        if not isinstance(lower, bytes) or lower in known or is_needed(lower) or is_idle(lower):
            continue
        if is_control_header(lower) or overrides_request(Headers(((lower, b""),))) is not None:
            continue
        known.add(lower)
        yield name


def _keys(tree: Tree) -> Iterator[tuple[str, str]]:
    """Where callers show a key of theirs, and its name there."""
    components = tree.root.get("components")
    schemes = components.get("securitySchemes") if isinstance(components, Mapping) else None
    for value in list(schemes.values())[:_SCHEMES] if isinstance(schemes, Mapping) else ():
        scheme = tree.resolved(value)
        if not isinstance(scheme, Wrong) and scheme.get("type") == "apiKey":
            yield text_of(scheme.get("in")), text_of(scheme.get("name"))


def _names(tree: Tree, parameter: Node) -> tuple[str, ...] | None:
    """As OpenAPI 3.1 (section 4.8.12) has them spelled in a query; None: they may be others."""
    name, schema = text_of(parameter.get("name")), parameter.get("schema")
    style = text_of(parameter.get("style")) or "form"
    if style == "deepObject":
        return bracketed(tree, name, schema)
    is_one = style != "form" or parameter.get("explode", "true") in (False, "false")
    if "content" in parameter or is_one or not may_be_object(tree, schema):
        return (name,)
    members = members_of(tree, schema)
    # How an object within one is spelled, no specification says.
    return None if members is None or any(members.values()) else tuple(members)


_Lists = tuple[tuple[str, ...] | None, tuple[str, ...] | None]


def _body(tree: Tree, operation: Node) -> _Lists | Wrong:
    """What is listed for JSON, and for forms."""
    content = list(content_of(tree, operation).items())[: _TYPES + 1]
    if not content or len(content) > _TYPES:
        return Wrong("it is not described")
    lists: dict[str, dict[str, None]] = {}
    types = {plain_type(name) for name, _ in content}
    for name, described in content:
        own = plain_type(name)
        if own in JSON_TOO and JSON in types:
            continue
        kind = "json" if own == JSON or ends_in_json(own) else "form" if own in (FORM, MULTIPART) else None
        if kind is None:
            return Wrong(f"it may be `{own[:_SHOWN]}`, whose members no list names")
        media = described if isinstance(described, Mapping) else {}
        found = _pointers(tree, media, own) if kind == "json" else fields_of(tree, media, is_multipart=own != FORM)
        if isinstance(found, Wrong):
            return found
        lists.setdefault(kind, {}).update(dict.fromkeys(found))
    return tuple(lists["json"]) if "json" in lists else None, tuple(lists["form"]) if "form" in lists else None


def _pointers(tree: Tree, media: Node, name: str) -> tuple[str, ...] | Wrong:
    members = members_of(tree, media.get("schema"))
    if members is None:
        return Wrong("it is no JSON object, or one with members that the document does not name")
    return pointers(members, 0 if name == _MERGE_PATCH else _POINTERS)
