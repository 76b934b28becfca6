"""One placeholder of a template: the part of a request that it takes, and how that is read."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.core.request import Request
from gateway.policy.escape import PLAIN
from gateway.policy.finding import Wrong
from gateway.policy.reading.body import Body
from gateway.policy.reading.body_type import Kind
from gateway.policy.reading.fields import read_header, read_idempotency_key
from gateway.policy.reading.formbody import parse_field
from gateway.policy.reading.graphql import parse_argument
from gateway.policy.reading.jsonbody import (
    JsonValue,
    Missing,
    Number,
    Pointer,
    ambiguous_body,
    looks_like_json,
    parse_pointer,
)
from gateway.policy.reading.parameters import read_query
from gateway.policy.value_form import ValueForm

# `idempotency-key` is the header of that name: it is parsed, so that its quoted and its bare form are one value.
Origin = Literal["path", "rest", "query", "header", "idempotency-key", "json", "form", "graphql", "principal", "tenant"]

# One spelling for each value: 7, 7.0 and 7e0 are one number, and must not be three resources.
_ONE_SPELLING = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?")
_HEADER_NAME = re.compile("[a-z0-9-]+")


@dataclass(frozen=True, slots=True)
class Part:
    """One placeholder. `text` is as the policy spells it, `name` what follows the dot, `stop` what must be escaped.

    `argument` is the way to an argument of a GraphQL operation; `form` how its values are spelled.
    """

    text: str
    origin: Origin
    name: str = ""
    pointer: Pointer | None = None
    argument: tuple[str, ...] = ()
    stop: str = ""
    escapes: Mapping[int, str] = field(default_factory=lambda: PLAIN, repr=False, compare=False)
    form: ValueForm = "any"

    @property
    def told(self) -> str:
        """Where it is in a request, in words for whoever sends one: they know no policy."""
        match self.origin:
            case "path" | "rest":
                return f"`{self.name}` of the path"
            case "query":
                return f"`{self.name}` of the query"
            case "header":
                return f"the header `{self.name}`"
            case "idempotency-key":
                return "`Idempotency-Key`"
            case "json":
                return f"`{self.text.removeprefix('json:')}` of the JSON body"
            case "form":
                return f"`{self.name}` of the form"
            case "graphql":
                return f"`{'.'.join(self.argument)}` of the GraphQL operation"
            case "principal" | "tenant":
                return f"the caller's {self.origin}"

    @property
    def reads(self) -> Kind | None:
        """What it reads the body as; None if it is elsewhere."""
        match self.origin:
            case "json" | "graphql":
                return "json"
            case "form":
                return "form"
        return None


@dataclass(frozen=True, slots=True)
class Unfit:
    """A part that is there and cannot be part of a name."""

    why: str


def read_part(
    part: Part, request: Request, path: Mapping[str, str], caller: Caller, body: Body
) -> str | Unfit | Refused | None:
    """What the request has there; None if it has nothing."""
    match part.origin:
        case "path" | "rest":
            return path.get(part.name)
        case "query":
            # One that is missing is nobody's: another template may want it from the body.
            return None if read_query(request.target, part.name) is None else body.parameter(part.name)
        case "header":
            return read_header(request.headers, part.name)
        case "idempotency-key":
            return read_idempotency_key(request.headers)
        case "principal":
            return caller.principal
        case "tenant":
            return caller.tenant
        case "form":
            return body.field(part.name)
        case "graphql":
            return _plain(body.argument(part.argument))
        case "json":
            assert part.pointer is not None
            found = body.find(part.pointer)
            if body.parses_texts and isinstance(found, str) and (looks_like_json(found) or found.strip() == "null"):
                return ambiguous_body(f"{part.name} is a text that some tools read as JSON", "Send another name.")
            return _plain(found)


def _plain(found: JsonValue | Missing | Refused) -> str | Unfit | Refused | None:
    match found:
        case Refused() | str():
            return found
        case Missing():
            return None
        case Number(spelled) if found.survives and _ONE_SPELLING.fullmatch(spelled) and spelled != "-0":
            return spelled
        case Number() if not found.survives:
            return Unfit("is a number that many readers would round; write it as text")
        case Number():
            return Unfit("is a number in an unusual spelling; write it without exponent or ending zeros")
    return Unfit("is neither text nor a number")


def parse_part(text: str, rests: frozenset[str]) -> Part | Wrong:
    """Compile what stands between two braces. `rests` are the path's placeholders that take all that follows."""
    if text == "principal":
        return Part(text, "principal")
    if text == "tenant":
        return Part(text, "tenant")
    if text.startswith("json:"):
        pointer = parse_pointer(text[5:])
        return pointer if isinstance(pointer, Wrong) else Part(text, "json", text[5:], pointer)
    origin, _, name = text.partition(".")
    match origin:
        case "path" if name:
            return Part(text, "rest" if name in rests else "path", name)
        case "query" if name:
            return Part(text, "query", name)
        case "header" if name:
            return _header_part(text, name)
        case "form" if name:
            field = parse_field(name)
            return field if isinstance(field, Wrong) else Part(text, "form", name)
        case "graphql" if name:
            argument = parse_argument(name)
            return argument if isinstance(argument, Wrong) else Part(text, "graphql", name, argument=argument)
    return Wrong(
        f"`{{{text}}}` names no part of a request; write path.NAME, query.NAME, header.NAME, json:/POINTER, "
        "form.NAME, graphql.ARGUMENT, principal or tenant"
    )


def _header_part(text: str, name: str) -> Part | Wrong:
    if not _HEADER_NAME.fullmatch(name):
        return Wrong(f"`{{{text}}}` must name the header in lower case, such as `{{header.x-document}}`")
    return Part(text, "idempotency-key" if name == "idempotency-key" else "header", name)
