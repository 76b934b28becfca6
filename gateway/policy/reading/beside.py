"""What a body may say beside the query, to servers that keep the names of both in one map.

PHP's `$_REQUEST`, Flask's `request.values`, servlets' parameters take a form's fields, Rails' `params` and Laravel's
`input()` the members of a JSON object too, and they differ in which of two values they take.
"""

from collections.abc import Iterator
from typing import Literal

from gateway.core.decision import AMBIGUOUS_TARGET, OF_BODIES, Refused
from gateway.core.request import Request
from gateway.policy.reading.body_type import FORM, coding_fault, parameter_fault, read_type
from gateway.policy.reading.formlike import MOST_BYTES
from gateway.policy.reading.jsonbody import JsonValue, Number
from gateway.policy.reading.lenient_name import folded, readings
from gateway.policy.reading.stand_in import is_operator

BesideQuery = Literal["form", "untyped", "multipart", "json", "other"]

_READS = "a rule looks at the query or the path for what some servers take from the body, too"
_ADVICE = "Send one Content-Type that says what the body is."
# Laravel looks for it anywhere in a type; others know `x-json`, `jsonrequest`, `json-rpc`.
_JSON = b"json"
# Tornado goes by how a type begins, Slim by what stands behind a plus sign.
_FORM = b"x-www-form-urlencoded"
# RFC 7303, section 9.2: another name of application/xml, where fields are nobody's. Other texts may be JSON or a form.
_XML = b"text/xml"


def beside_query(
    request: Request, json_types: frozenset[bytes], *, undoes_codings: bool = False
) -> BesideQuery | Refused | None:
    """As what some server reads fields from the body; None if it has none. Refused where its headers do not tell.

    `other`: what only those read as a form to whom any body is one. `undoes_codings`: whether its upstream does,
    of all but forms.
    """
    if not has_body(request):
        return None
    kind = _kind(request, json_types)
    if kind is None or isinstance(kind, Refused):
        return kind
    is_form = kind in ("form", "multipart")
    return coding_fault(request.headers, _READS, is_form=is_form, undoes_codings=undoes_codings) or kind


def _kind(request: Request, json_types: frozenset[bytes]) -> BesideQuery | Refused | None:
    headers = request.headers
    if not headers.all(b"content-type") and b"content-type" not in headers.respelled():
        # Rack reads a POST that does not say what it has as a form.
        return "untyped" if request.method == "POST" else _other(request)
    found = read_type(headers, _READS, _ADVICE)
    if isinstance(found, Refused):
        return found
    fault = parameter_fault(found, _READS)
    if fault is not None:
        return fault
    if found.name in json_types or _JSON in found.name:
        return "json"
    if found.name == FORM or found.name.startswith(b"multipart/"):
        return "form" if found.name == FORM else "multipart"
    if (found.name.startswith(b"text/") and found.name != _XML) or _FORM in found.name:
        return _as_fields()
    return _other(request)


def _other(request: Request) -> Literal["other"] | None:
    """None for a body that says it is too long to be a form to anybody, so that it streams; and for one that nothing
    announces, which is none."""
    if request.body is not None:
        return "other"
    length = request.headers.first(b"content-length")
    if length is None:
        return "other" if request.headers.all(b"transfer-encoding") else None
    return "other" if int(length) <= MOST_BYTES else None


def _as_fields() -> Refused:
    advice = f"Send JSON, `{FORM.decode()}` or, for a file, `application/octet-stream`."
    return Refused(
        AMBIGUOUS_TARGET, f"Not forwarded: {_READS}, and some do from a body of this type. {advice}", OF_BODIES
    )


def has_body(request: Request) -> bool:
    """Whether there is a body, or may be one that has not been read: a target that is asked about has none."""
    if brings_body(request):
        return True
    headers = request.headers
    return request.body is None and not headers.all(b"content-length") and bool(headers.all(b"content-type"))


def brings_body(request: Request) -> bool:
    """Whether there is a body, or one is announced: a `Content-Type` alone is none (RFC 9112, section 6)."""
    if request.body is not None:
        return bool(request.body)
    length = request.headers.first(b"content-length")
    return length.strip(b"0") != b"" if length is not None else bool(request.headers.all(b"transfer-encoding"))


def contradicts(value: JsonValue, name: str, text: str | None) -> bool:
    """Whether a JSON body has a member of this name, and another value in it than the query; None: that has none."""
    if not isinstance(value, dict):
        return False
    key = folded(name)
    own = (found for member, found in _said(value) if key in readings(member))
    return any(text is None or not is_spelled(found, text) for found in own)


def _said(members: dict[str, JsonValue]) -> Iterator[tuple[str, JsonValue]]:
    """An object's members, and those that an operator of MongoDB names."""
    yield from members.items()
    for name, below in members.items():
        if is_operator(name) and isinstance(below, dict):
            yield from below.items()


def is_spelled(value: JsonValue, text: str) -> bool:
    """Whether a query would spell the value so."""
    match value:
        case bool():
            return text == ("true" if value else "false")
        case str():
            return value == text
        case Number(spelled):
            return spelled == text
    return False


def only_in_body(name: str) -> Refused:
    """The refusal of a body with a name that a rule looks at in the query, which the API may take from either."""
    return _refused(f"a rule looks at {name} in the query, and the API may take the body's. Send it in the query.")


def only_in_query(name: str) -> Refused:
    """The refusal of a query with a name that a rule looks for in the body."""
    return _refused(f"a rule looks for {name} in the body, and the API may take the query's. Send the query without.")


def misplaced(name: str) -> Refused:
    """The refusal of a name in a body of another type than the one in which a rule looks for it."""
    why = f"a rule looks for {name} in JSON or a urlencoded form, and the API may find it here"
    return _refused(f"{why}. Send it without.")


def twice(name: str) -> Refused:
    """The refusal of a name that the query and the body have."""
    return _refused(f"{name} stands in the query and in the body, and servers differ in what they take. Send it once.")


def _refused(why: str) -> Refused:
    return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: {why}", OF_BODIES)
