"""What a body may say beside the query, to servers that keep the names of both in one map.

PHP's `$_REQUEST`, Flask's `request.values`, servlets' parameters take a form's fields, Rails' `params` and Laravel's
`input()` the members of a JSON object too, and they differ in which of two values they take.
"""

from typing import Literal

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.core.request import Request
from gateway.policy.reading.body_type import FORM, coding_fault, read_type
from gateway.policy.reading.jsonbody import JsonValue, Number
from gateway.policy.reading.lenient_name import folded, readings

BesideQuery = Literal["form", "untyped", "multipart", "json"]

_READS = "a rule reads what some servers take from a body's fields too"
_ADVICE = "Send one Content-Type that says what the body is."
# What frameworks call JSON beside the types that end so.
_JSON = frozenset((b"json", b"x-json", b"jsonrequest", b"json-rpc"))


def beside_query(request: Request, json_types: frozenset[bytes]) -> BesideQuery | Refused | None:
    """As what some server reads fields from the body; None if it has none. Refused where its headers do not tell."""
    if not has_body(request):
        return None
    headers = request.headers
    if not headers.all(b"content-type") and b"content-type" not in headers.respelled():
        # Rack reads a POST that does not say what it has as a form.
        return "untyped" if request.method == "POST" else None
    found = read_type(headers, _READS, _ADVICE)
    if isinstance(found, Refused):
        return found
    main, _, subtype = found.name.partition(b"/")
    if found.name in json_types or subtype in _JSON or subtype.endswith(b"+json"):
        return "json"
    if found.name != FORM and main != b"multipart":
        return None
    return coding_fault(headers, _READS) or ("form" if found.name == FORM else "multipart")


def has_body(request: Request) -> bool:
    """Whether there is a body, or may be one that has not been read: a target that is asked about has none."""
    if request.body is not None:
        return bool(request.body)
    headers = request.headers
    length = headers.first(b"content-length")
    if length is not None:
        return length.strip(b"0") != b""
    return any(headers.all(name) for name in (b"transfer-encoding", b"content-type"))


def contradicts(value: JsonValue, name: str, text: str) -> bool:
    """Whether a JSON body has a member of this name, and another value in it."""
    if not isinstance(value, dict):
        return False
    key = folded(name)
    return any(not is_spelled(own, text) for member, own in value.items() if key in readings(member))


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


def twice(name: str) -> Refused:
    """The refusal of a name that the query and the body have."""
    detail = f"Nothing was forwarded: {name} stands in the query and in the body, and servers differ in what they take."
    return Refused(AMBIGUOUS_TARGET, f"{detail} Send it once.")
