"""The words that shapes are made of."""

from collections.abc import Iterable, Mapping

Schema = Mapping[str, object]

TEXT: Schema = {"type": "string"}
NAME: Schema = {"type": "string", "minLength": 1}
INSTANT: Schema = {"type": "string", "format": "date-time"}
COUNT: Schema = {"type": "integer", "minimum": 0}
# Up to 2^64-1: beyond 2^53 a JSON number would lose digits in most readers.
DIGITS: Schema = {"type": "string", "pattern": "^[0-9]{1,20}$"}
BASE64: Schema = {"type": "string", "contentEncoding": "base64"}
INCOMPLETE: Schema = {
    "type": "string",
    "description": "There only where a part of the store did not answer, so that something may be missing: which.",
}
BYTES: Schema = {}
ANYTHING: Schema = {}


def record(members: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """An object that has all `members`, and some of the `optional` ones."""
    return {"type": "object", "required": list(members), "properties": {**members, **(optional or {})}}


def asked(members: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """As `record`, of what is sent: a member that is not known is refused."""
    return {**record(members, optional), "additionalProperties": False}


def nullable(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def one_of(words: Iterable[str]) -> Schema:
    return {"type": "string", "enum": list(words)}


def list_of(schema: Schema) -> Schema:
    return {"type": "array", "items": schema}


def page_of(schema: Schema) -> Schema:
    """A page of a list; `next` is the cursor of the one after it, null at the end."""
    return record({"items": list_of(schema), "next": nullable(TEXT)}, {"incomplete": INCOMPLETE})


def ref(name: str) -> Schema:
    """A shape by its name in the document."""
    return {"$ref": f"#/components/schemas/{name}"}
