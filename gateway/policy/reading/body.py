"""A request's body in each form that a rule may want it in: JSON, a form, a GraphQL operation. Each is read once.

Its type has to say what it is read as. What a rule looks at must not stand under the same name in the query, nor what
it looks at in the query in the body: to many servers the two are one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from gateway.core.decision import Refused
from gateway.core.request import Request
from gateway.core.rule import JSON_TYPES, Mount, Upstream
from gateway.policy.reading.beside import (
    BesideQuery,
    beside_query,
    contradicts,
    has_body,
    is_spelled,
    misplaced,
    only_in_body,
    only_in_query,
    twice,
)
from gateway.policy.reading.beside_path import form_overrules, json_overrules, parts_overrule, query_overrules
from gateway.policy.reading.body_type import FORM_TYPES, NO_FORM, Kind, body_fault
from gateway.policy.reading.bound_headers import header_named
from gateway.policy.reading.cookies import cookie_named
from gateway.policy.reading.formbody import Form, read_form
from gateway.policy.reading.formlike import names_within, names_within_json, said_within
from gateway.policy.reading.formparts import FormParts, read_form_parts
from gateway.policy.reading.graphql import read_operation
from gateway.policy.reading.jsonbody import JsonReader, JsonValue, Missing, Pointer
from gateway.policy.reading.operation import Operation
from gateway.policy.reading.overriding import OF_JSON
from gateway.policy.reading.parameters import read_query

_ANYWHERE = Mount()


@dataclass(frozen=True, slots=True)
class BodyWanted:
    """The answer needs the body, and it has not been read."""


class Body:
    """The body of one request, as far as it was read. `json_types`: what its upstream reads as JSON. `mount`: what else
    is known of how that reads names. `parses_texts`: whether it may read a text of JSON as what the text spells, as
    MCP's SDK for Python does."""

    __slots__ = (
        "_beside",
        "_faults",
        "_form",
        "_json",
        "_json_types",
        "_mount",
        "_operation",
        "_parts",
        "_request",
        "_within",
        "parses_texts",
    )

    def __init__(
        self,
        request: Request,
        json_types: frozenset[bytes] = JSON_TYPES,
        mount: Mount = _ANYWHERE,
        *,
        parses_texts: bool = False,
    ) -> None:
        self._request = request
        self.parses_texts = parses_texts
        self._json_types = json_types
        self._mount = mount
        self._json: JsonReader | None = None
        self._form: Form | Refused | None = None
        self._parts: FormParts | Refused | None = None
        self._operation: Operation | Refused | None = None
        self._within: frozenset[str] | None = None
        self._faults: dict[Kind, Refused | None] = {}
        self._beside: tuple[BesideQuery | Refused | None] | None = None

    @property
    def is_there(self) -> bool:
        return self._request.body is not None

    @property
    def may_be_there(self) -> bool:
        """Whether the request has a body, as far as its headers tell."""
        return has_body(self._request)

    @property
    def json(self) -> JsonReader:
        """As JSON, whatever its type says."""
        if self._json is None:
            self._json = JsonReader(self._request.body, OF_JSON)
        return self._json

    def lacking(self, kind: Kind) -> BodyWanted | Refused | None:
        """What keeps the body from being read as `kind`: its type, which is told before it is read, or its absence.

        A target that is asked about has neither type nor body: it wants both.
        """
        if not self.is_there and not self._request.headers.all(b"content-type"):
            return BodyWanted()
        if kind not in self._faults:
            self._faults[kind] = body_fault(self._request, kind, self._json_types, undoes_codings=self._undoes_codings)
        return self._faults[kind] or (None if self.is_there else BodyWanted())

    def find(self, pointer: Pointer) -> JsonValue | Missing | Refused:
        """What a JSON pointer leads to. Refused: `ambiguous-target`."""
        found = self._typed("json") or self.json.find(pointer)
        if self._request.target.query is None or isinstance(found, Refused | Missing):
            return found
        return self.stray_member(pointer, found) or found

    def stray_member(self, pointer: Pointer, found: JsonValue | Missing) -> Refused | None:
        """The refusal of a query that has the member at the beginning of a pointer too; not where it says the same."""
        text = read_query(self._request.target, pointer.tokens[0])
        if text is None or isinstance(text, Refused):
            return text
        if len(pointer.tokens) == 1 and not isinstance(found, Missing) and is_spelled(found, text):
            return None
        name = pointer.tokens[0]
        return only_in_query(name) if isinstance(found, Missing) else twice(name)

    def field(self, name: str) -> str | Refused | None:
        """A field of a form, None without it. Refused: `ambiguous-target`."""
        form = self._typed("form") or self._read_form()
        found = form if isinstance(form, Refused) else form.field(name)
        return found if found is None or isinstance(found, Refused) else self.stray_field(name, found) or found

    def stray_field(self, name: str, found: str | None) -> Refused | None:
        """The refusal of a query or a cookie that has a field's name, and of a header where the form has none."""
        stray = read_query(self._request.target, name)
        if stray is None:
            return self._beside_said(name, found)
        if isinstance(stray, Refused):
            return stray
        return only_in_query(name) if found is None else twice(name)

    def _beside_said(self, name: str, found: str | None) -> Refused | None:
        """The refusal of a cookie that is called as a parameter or a field, and of a header where there is none."""
        headers = self._request.headers
        return cookie_named(headers, (name,)) or (header_named(headers, name) if found is None else None)

    def is_of_other_kind(self, kind: Kind) -> bool:
        """Whether its type says plainly that it is JSON where a form is looked at, or a form where JSON is."""
        return self._beside_query() in (("form", "multipart") if kind == "json" else ("json", "multipart"))

    @property
    def calls_itself_form(self) -> bool:
        """Whether its type is a form's, even if what stands beside it, or a second type, keeps it from being read."""
        lines = self._request.headers.all(b"content-type")
        return any(line.partition(b";")[0].strip().lower() in FORM_TYPES for line in lines)

    def names_in_form(self) -> tuple[str, ...] | BodyWanted | Refused:
        """The names of a form's fields or of a multipart form's parts, as they are spelled."""
        kind = self._beside_query()
        if isinstance(kind, Refused):
            return kind
        if kind != "form" and kind != "multipart":
            return NO_FORM
        fields = self._beside_as(kind) if self.is_there else BodyWanted()
        if isinstance(fields, FormParts) and not fields.is_form:
            return NO_FORM
        return fields if isinstance(fields, BodyWanted | Refused) else fields.names

    def misplaced(self, name: str) -> BodyWanted | Refused | None:
        """The refusal of a body of another kind that has a name at its top: to its API it may be the same one."""
        kind = self._beside_query()
        if kind == "form" or kind == "multipart":
            fields = self._beside_as(kind) if self.is_there else BodyWanted()
            if isinstance(fields, BodyWanted | Refused):
                return fields
            return misplaced(name) if fields.has(name) else None
        lacking = self.lacking("json")
        if lacking is not None:
            return lacking
        value = self.json.value()
        if isinstance(value, Refused):
            return value
        return misplaced(name) if contradicts(value, name, None) else self._within_json(name)

    def lacking_beside_query(self) -> BodyWanted | Refused | None:
        """What keeps the query from being read: a body that some servers take for it, and that is not here."""
        kind = self._beside_query()
        if kind is None or isinstance(kind, Refused):
            return kind
        return None if self.is_there else BodyWanted()

    def parameter(self, name: str) -> str | Refused | None:
        """A query parameter, None without it. Refused: also if the body has another one, a cookie is called so, or a
        header where there is none. Of a name that only the body has, JSON makes no parameter, where the API's names are
        not `merged`: most that read JSON keep the two apart."""
        text = read_query(self._request.target, name)
        if not isinstance(text, Refused):
            text = self._beside_said(name, text) or text
        kind = self._beside_query()
        if isinstance(text, Refused) or kind is None:
            return text
        if isinstance(kind, Refused):
            return kind
        assert self.is_there, "whoever reads the query asks for the body beside it first"
        if kind == "json" or kind == "other":
            return self._said_otherwise(name, text, kind) or text
        fields = self._beside_as(kind)
        if isinstance(fields, Refused):
            return fields
        if fields.has(name):
            return only_in_body(name) if text is None else twice(name)
        return text

    def overruled(self, path: Mapping[str, str], *, merged: bool) -> BodyWanted | Refused | None:
        """The refusal of a request that has another value of what the path's placeholders took: in the query, and where
        the API's names are `merged`, in the body too, which then must be of a type that is read, and name no other
        method or path."""
        query = self._request.target.query if path else None
        stray = None if query is None else query_overrules(query, path)
        if stray is None and merged and path:
            stray = cookie_named(self._request.headers, path)
        if stray is not None or not merged or not has_body(self._request):
            return stray
        kind = self._beside_query()
        if isinstance(kind, Refused):
            return kind
        if kind == "multipart":
            parts = self._read_parts() if self.is_there else BodyWanted()
            return parts_overrule(parts, path) if isinstance(parts, FormParts) else parts
        lacking = self.lacking("form" if kind == "form" else "json")
        if lacking is not None:
            return lacking
        if kind == "form":
            form = self._read_form()
            return form if isinstance(form, Refused) else form_overrules(form, path)
        value = self.json.value()
        if isinstance(value, Refused):
            return value
        return json_overrules(value, path) or next(filter(None, (self._within_json(name) for name in path)), None)

    def operation(self) -> Operation | Refused:
        """The GraphQL operation. Refused: `ambiguous-target`."""
        if self._operation is None:
            self._operation = self._typed("json") or self._read_operation()
        return self._operation

    @property
    def has_operation(self) -> bool:
        """Whether some rule has asked for the operation, and it could be told."""
        return self._operation is not None and not isinstance(self._operation, Refused)

    def argument(self, path: tuple[str, ...]) -> JsonValue | Missing | Refused:
        """An argument of the GraphQL operation's root fields."""
        operation = self.operation()
        return operation if isinstance(operation, Refused) else operation.argument(path)

    def _beside_query(self) -> BesideQuery | Refused | None:
        if self._beside is None:
            # Told once: each parameter and field asks.
            self._beside = (beside_query(self._request, self._json_types, undoes_codings=self._undoes_codings),)
        return self._beside[0]

    @property
    def _undoes_codings(self) -> bool:
        return self._mount.coded_bodies == "undone"

    def _said_otherwise(self, name: str, text: str | None, kind: Literal["json", "other"]) -> Refused | None:
        """The refusal of a body that is no form and has another value for a query parameter."""
        if kind == "other":
            if self._within is None:
                self._within = names_within(self._request.body or b"")
            return said_within(name, self._within)
        if text is not None or self._mount.names == "merged":
            value = self.json.value()
            if isinstance(value, Refused):
                return value
            if contradicts(value, name, text):
                return only_in_body(name) if text is None else twice(name)
        return self._within_json(name)

    def _within_json(self, name: str) -> Refused | None:
        if self._within is None:
            self._within = names_within_json(self._request.body or b"")
        found = said_within(name, self._within)
        return None if found is None or self._is_json_alone() else found

    def _is_json_alone(self) -> bool:
        """Whether to its API it is JSON and nothing else, as the policy says."""
        if self._mount.form_in_json == "refuse" or self.lacking("json") is not None:
            return False
        return not isinstance(self.json.value(), Refused)

    def _beside_as(self, kind: Literal["form", "untyped", "multipart"]) -> Form | FormParts | Refused:
        return self._read_parts() if kind == "multipart" else self._read_form()

    def _read_form(self) -> Form | Refused:
        if self._form is None:
            self._form = read_form(self._request.body or b"", self._request.target.query)
        return self._form

    def _read_parts(self) -> FormParts | Refused:
        if self._parts is None:
            (content_type,) = self._request.headers.all(b"content-type")
            self._parts = read_form_parts(content_type, self._request.body or b"")
        return self._parts

    def _read_operation(self) -> Operation | Refused:
        value = self.json.value()
        return value if isinstance(value, Refused) else read_operation(value, self._request.target)

    def _typed(self, kind: Kind) -> Refused | None:
        lacking = self.lacking(kind)
        assert not isinstance(lacking, BodyWanted), "whoever reads the body asks for it first"
        return lacking


def body_of(request: Request, upstream: Upstream) -> Body:
    """As the upstream's own server reads it."""
    return Body(request, upstream.json_types, upstream.mount, parses_texts=upstream.protocol == "mcp")


def unread_body(read: Request) -> Body:
    """Of a read, by which nothing is written: whatever body comes with it, its query is the query."""
    return Body(replace(read, body=b""))
