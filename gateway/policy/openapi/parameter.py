"""The parameters of an operation's path and query, and other values: what the document says of how they are spelled."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Literal

from gateway.policy.finding import Wrong
from gateway.policy.openapi.listed import listed_by
from gateway.policy.openapi.tree import Node, Tree, alternatives, is_only_null, items_of
from gateway.policy.openapi.value_pattern import pattern_kind
from gateway.policy.source import reads_as
from gateway.policy.value_form import ValueForm, misfit

# `signed`: an integer that may be below 0. `word`: one of some words that the document lists, or made of such letters.
# `named`: a number, or a text. `list`, `integers`, `uuids`: several values in one segment. `other`: of a format that is
# not known here. `mixed`: not one kind.
Kind = Literal[
    "text",
    "word",
    "lowercase",
    "uppercase",
    "hexadecimal",
    "integer",
    "signed",
    "uuid",
    "ulid",
    "boolean",
    "number",
    "named",
    "date",
    "moment",
    "duration",
    "address",
    "mail",
    "host",
    "link",
    "encoded",
    "list",
    "integers",
    "uuids",
    "other",
    "mixed",
]

_PARAMETERS = _BRANCHES = _TYPES = 200
_NESTED = 4
# Of schemas in one: some are made of themselves, many times over.
_SCHEMAS = 500
# Names of formats without their dashes and underscores, in small letters: OpenAPI's registry and JSON Schema's
# section 7.3, and those that frameworks write beside them.
_OF_FORMAT: Mapping[str, Kind] = {
    **dict.fromkeys(("", "string", "text"), "text"),
    **dict.fromkeys(("uuid", "guid", "uuid1", "uuid3", "uuid4", "uuid5", "uuid6", "uuid7", "uuid8"), "uuid"),
    **dict.fromkeys(("int", "integer", "int8", "int16", "int32", "int64", "long", "bigint"), "integer"),
    **dict.fromkeys(("uint", "uint8", "uint16", "uint32", "uint64"), "integer"),
    **dict.fromkeys(("number", "decimal", "decimal128", "bigdecimal", "float", "double", "money"), "number"),
    **dict.fromkeys(("datetime", "datetimelocal", "timestamp", "time", "partialtime"), "moment"),
    **dict.fromkeys(("duration", "timedelta", "period"), "duration"),
    **dict.fromkeys(("ipv4", "ipv6", "ip", "ipaddress", "ipvanyaddress", "cidr", "mac", "macaddress"), "address"),
    **dict.fromkeys(("ipv4network", "ipv6network", "ipvanynetwork"), "address"),
    **dict.fromkeys(("ipv4interface", "ipv6interface", "ipvanyinterface"), "address"),
    **dict.fromkeys(("email", "idnemail", "nameemail"), "mail"),
    **dict.fromkeys(("hostname", "idnhostname", "domain", "fqdn"), "host"),
    **dict.fromkeys(("uri", "url", "iri", "urireference", "irireference", "uritemplate"), "link"),
    **dict.fromkeys(("byte", "bytes", "base64", "base64url"), "encoded"),
    "date": "date",
    "ulid": "ulid",
    "boolean": "boolean",
}
_WORDS: frozenset[Kind] = frozenset({"word", "lowercase", "uppercase"})
# By what one is what several are.
_SEVERAL: Mapping[Kind, Kind] = {"integer": "integers", "uuid": "uuids"}
LISTS: frozenset[Kind] = frozenset({"list", *_SEVERAL.values()})
# A boolean is a word in each of its spellings; a word is no list of two.
FORMS: Mapping[Kind, ValueForm] = {
    "word": "word",
    "lowercase": "lowercase",
    "uppercase": "uppercase",
    "hexadecimal": "lowercase",
    "integer": "integer",
    "uuid": "uuid",
    "ulid": "ulid",
    "boolean": "word",
    "date": "date",
    "encoded": "base64",
    "list": "word",
    "integers": "integer",
    "uuids": "uuid",
}
# What has several spellings in whatever form: which of them an API takes, no document says.
DOUBTFUL: Mapping[Kind, str] = {
    "hexadecimal": "hexadecimal (`AB` and `ab` may be one; where the API writes capitals, say `uppercase`)",
    "signed": "an integer that may be below 0, for which there is no form",
    "boolean": "a boolean (`true`, `True` and `1` may be one)",
    "number": "a number (`7`, `7.0` and `7e0` may be one)",
    "named": "a number or a text (`7` and `07` may be one; where it is a number or a name, say `unpadded`)",
    "moment": "an instant (`Z`, `+00:00` and fractions of a second may make no difference)",
    "duration": "a duration (`PT1H`, `PT60M` and `3600` may be one)",
    "address": "an address (`::1` and `0:0::1` may be one, as may capitals and zeros in front)",
    "mail": "a mail address (`ada@example.com` and `ada@EXAMPLE.com` may be one)",
    "host": "the name of a host (`a.example`, `A.example` and `a.example.` may be one)",
    "link": "an address of the web (capitals, ports, escapes and a slash at its end may make no difference)",
    "encoded": "base64 (padding and the alphabet may make no difference)",
    "list": "a list (`7,8` may write two things; as a word it is one thing alone)",
    "integers": "a list (`7,8` may write two things; as an integer it is one thing alone)",
    "uuids": "a list (two with a comma in between may write two things; as a UUID it is one thing alone)",
    "other": "text of a format that is not known here, and may have several spellings of one value",
    "mixed": "described in several ways, each of which has its own spellings",
}


def parameter_kinds(tree: Tree, item: Node, operation: Node, place: Literal["path", "query"]) -> Mapping[str, Kind]:
    """By the name of each parameter of the path or the query what it is; the operation's over those of its path."""
    return {name: tree.once(kind_of, schema) for name, schema in _schemas(tree, item, operation, place)}


def _schemas(tree: Tree, item: Node, operation: Node, place: Literal["path", "query"]) -> Iterator[tuple[str, object]]:
    for found in parameters(tree, item, operation):
        name = None if isinstance(found, Wrong) or found.get("in") != place else found.get("name")
        if not isinstance(found, Wrong) and isinstance(name, str):
            yield name, found.get("schema", _of_content(found))


def _of_content(parameter: Node) -> object:
    """The schema of a parameter that is described as content, of which there is one type (section 4.8.12)."""
    content = parameter.get("content")
    described = next(iter(content.values()), None) if isinstance(content, Mapping) else None
    return described.get("schema") if isinstance(described, Mapping) else None


def parameters(tree: Tree, item: Node, operation: Node) -> Iterator[Node | Wrong]:
    """Those of a path, then the operation's own, which stand over them (OpenAPI 3.1, section 4.8.10)."""
    for node in (item, operation):
        listed = items_of(node.get("parameters"), _PARAMETERS + 1)
        yield from map(tree.resolved, listed[:_PARAMETERS])
        if len(listed) > _PARAMETERS:
            yield Wrong(f"there are more than {_PARAMETERS}, and the others say nothing here")


def kind_of(tree: Tree, value: object) -> Kind:
    """What a schema says of a value; `text` where it says nothing that counts here."""
    return _kind(tree, value, 0, iter(range(_SCHEMAS)))


def _kind(tree: Tree, value: object, depth: int, left: Iterator[int]) -> Kind:
    schema = tree.resolved(value)
    if isinstance(schema, Wrong) or depth > _NESTED:
        return "text"
    if next(left, None) is None:
        return "mixed"
    branches = alternatives(schema, _BRANCHES)
    if branches:
        found = [tree.resolved(one) for one in branches]
        kinds = {
            _kind(tree, one, depth + 1, left) for one in found if not isinstance(one, Wrong) and not is_only_null(one)
        }
        return common_kind(kinds) if kinds else "text"
    merged = {_kind(tree, one, depth + 1, left) for one in items_of(schema.get("allOf"), _BRANCHES)} - {"text"}
    own = _of_schema(tree, schema, depth, left)
    return own if own != "text" or not merged else min(merged) if len(merged) == 1 else "mixed"


def common_kind(kinds: set[Kind]) -> Kind:
    """Of what may be one thing or another: a number as text is a number that has more spellings."""
    if len(kinds) == 1:
        return min(kinds)
    for one, several in _SEVERAL.items():
        if kinds <= {one, several}:
            return several
    if kinds <= _WORDS:
        return "word"
    if not kinds.isdisjoint(LISTS):
        return "list"
    if not kinds.isdisjoint({"integer", "named"}) and kinds <= {"integer", "named", "text", *_WORDS}:
        return "named"
    if not kinds.isdisjoint({"integer", "signed", "number", "named"}):
        return "number"
    return "text" if kinds <= {"text", "boolean", *_WORDS} else "mixed"


def _of_schema(tree: Tree, schema: Node, depth: int, left: Iterator[int]) -> Kind:
    of_type = schema.get("type")
    types = [one for one in (of_type if isinstance(of_type, list) else [of_type]) if one != "null"][:_TYPES]
    kinds = {_of_type(tree, schema, one, depth, left) for one in types if isinstance(one, str)}
    return common_kind(kinds) if kinds else _of_no_type(schema)


def _of_type(tree: Tree, schema: Node, of_type: str, depth: int, left: Iterator[int]) -> Kind:
    match of_type:
        case "integer":
            return "signed" if _may_be_negative(schema) else "integer"
        case "boolean":
            return "boolean"
        case "number":
            return "number"
        case "array":
            of_items = _kind(tree, schema.get("items"), depth + 1, left)
            return _SEVERAL.get(of_items, "list")
        case "object":
            return "list"
        case "string":
            return _of_text(schema)
    return "text"


def listed_values(tree: Tree, item: Node, operation: Node) -> Mapping[str, tuple[str, ...]]:
    """By the name of a parameter of the path all the texts that it may be, where the document lists them."""
    schemas = dict(_schemas(tree, item, operation, "path"))
    listed = {name: tree.once(listed_by, schema) for name, schema in schemas.items()}
    texts = ((name, one.texts if one is not None and one.is_text else None) for name, one in listed.items())
    return {name: some for name, some in texts if some is not None and all(some)}


def _are_words(schema: Node) -> bool:
    listed = schema.get("enum")
    words = [str(one) for one in listed if one is not None] if isinstance(listed, list) else []
    return bool(words) and all(misfit("word", one) is None for one in words)


def _may_be_negative(schema: Node) -> bool:
    """Numbers are read as text."""
    return any(str(schema.get(bound, "")).startswith("-") for bound in ("minimum", "exclusiveMinimum"))


def _of_no_type(schema: Node) -> Kind:
    """Of what is listed the numbers may be numbers: a document's scalars are read as text."""
    if not _are_words(schema):
        return _of_text(schema)
    kinds = {type(reads_as(str(one))) for one in schema["enum"] if one is not None}
    return common_kind({"integer" if kind in (int, Decimal) else "word" for kind in kinds})


def _of_text(schema: Node) -> Kind:
    """A list of words says more than a pattern, and that more than the name of a format."""
    pattern, named = schema.get("pattern"), schema.get("format")
    if _are_words(schema):
        return "word"
    of_pattern = pattern_kind(pattern) if isinstance(pattern, str) else None
    if of_pattern is not None:
        return of_pattern
    if not isinstance(named, str):
        return "text"
    return _OF_FORMAT.get(named.lower().replace("-", "").replace("_", ""), "other")
