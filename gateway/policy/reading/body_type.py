"""What a request says of its body, and whether that lets a rule read it.

What is JSON to a rule and a form to its upstream would be two bodies. Frameworks differ in what they make of a type
that is missing, there twice or malformed, and many never undo a request's coding.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from gateway.core.coding import named_codings
from gateway.core.decision import AMBIGUOUS_TARGET, OF_BODIES, UNSUPPORTED_CODING, Refused
from gateway.core.request import Headers, Request
from gateway.core.rule import JSON_TYPES

Kind = Literal["json", "form"]

FORM = b"application/x-www-form-urlencoded"
MULTIPART = b"multipart/form-data"
FORM_TYPES = frozenset((FORM, MULTIPART))
# Laravel looks for it in the whole of Content-Type.
_JSON_WITHIN = re.compile(rb"[/+]json", re.IGNORECASE)
# The one coding that all read alike who undo any.
_UNDONE = b"gzip"
# RFC 9110, section 5.6.2.
TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
CONTENT_TYPE = "content-type"
# RFC 9110, sections 8.3.1 and 5.6.6, without what some readers take for another type or for none: tabs, several blanks,
# one before a semicolon (to Bottle that is no JSON), a parameter of nothing; and without what a reader who knows no
# quotes would cut at: commas, semicolons, escapes.
_PARAMETER = rb"; ?(" + TOKEN + rb")=(" + TOKEN + rb'|"[ !#-+\--:<-\[\]-~]+")'
PLAIN_TYPE = re.compile(rb"(" + TOKEN + rb"/" + TOKEN + rb")((?:" + _PARAMETER + rb")*)")
_PARAMETERS = re.compile(_PARAMETER)
# Readers that take `_` or `.` for `-` see a second field in another spelling; others do not.
OF_THE_BODY = frozenset((b"content-type", b"content-encoding"))
# The parameters by which a body is taken apart; Tornado, CherryPy and Hono compare them and the type byte for byte.
_OF_ITS_READING = frozenset((b"boundary", b"charset"))
_HAS_CAPITALS = "Content-Type has capitals, in which some do not know it"
_IN_LOWER_CASE = "Spell the type, `boundary` and `charset` in lower case, such as `application/json; charset=utf-8`."
_ADVICE = {
    "json": "Send `Content-Type: application/json`, once; a policy names further types in `json_types`.",
    "form": f"Send `Content-Type: {FORM.decode()}`, once; multipart/form-data is not read by rules.",
}
NO_FORM = Refused(
    AMBIGUOUS_TARGET,
    "Not forwarded: the policy lists the fields of a form, and Content-Type calls this body something else, or nothing "
    f"at all. Send `Content-Type: {FORM.decode()}` or `multipart/form-data`, or no body.",
    OF_BODIES,
)


def body_fault(
    request: Request, kind: Kind, json_types: frozenset[bytes] = JSON_TYPES, *, undoes_codings: bool = False
) -> Refused | None:
    """Why the body cannot be read as `kind`, for its headers. An empty one without a type is JSON: it has no members.

    `json_types`: what its upstream reads as JSON; of `application/x+json` many make nothing. `undoes_codings`: whether
    it undoes the coding of what it reads, but forms.

    Refused: `ambiguous-target`, and `unsupported-coding` as `coding_fault` is.
    """
    headers = request.headers
    if not headers.all(b"content-type") and not request.body and kind == "json":
        return _respelled(headers)
    reads = f"a rule reads this body as {'JSON' if kind == 'json' else 'a form'}"
    found = read_type(headers, reads, _ADVICE[kind])
    if isinstance(found, Refused):
        return found
    if found.name not in (json_types if kind == "json" else (FORM,)):
        return _ambiguous(f"{reads}, and Content-Type calls it something else.", _ADVICE[kind])
    fault = parameter_fault(found, reads)
    return fault or coding_fault(headers, reads, is_form=kind == "form", undoes_codings=undoes_codings)


@dataclass(frozen=True, slots=True)
class MediaType:
    """What Content-Type says, the names in lower case, the values as spelled."""

    name: bytes
    parameters: tuple[tuple[bytes, bytes], ...]


def read_type(headers: Headers, reads: str, advice: str) -> MediaType | Refused:
    """The body's type, where it is said once and spelled so that all read the same. `reads`: what wants to know."""
    respelled = _respelled(headers)
    if respelled is not None:
        return respelled
    lines = headers.all(b"content-type")
    if not lines:
        return _ambiguous(f"{reads}, and no Content-Type says what it is.", advice)
    if len(lines) > 1:
        return _ambiguous(f"{reads}, and Content-Type is there {len(lines)} times.", advice)
    found = _media_type(lines[0].strip(b" "))
    if isinstance(found, str):
        return _ambiguous(f"{reads}, and {found}.", _IN_LOWER_CASE if found == _HAS_CAPITALS else advice)
    return found


def named_type(headers: Headers) -> str | Refused:
    """The type alone, as a condition on Content-Type compares it, whatever parameters follow (RFC 9110, 8.3.1)."""
    found = read_type(headers, "a rule looks at Content-Type", "Send one type, once.")
    if isinstance(found, Refused):
        return found
    if any(_JSON_WITHIN.search(value) for _, value in found.parameters):
        why = "a rule looks at Content-Type, and it has a parameter by which some take the body for JSON."
        return _ambiguous(why, "Send it without.")
    return found.name.decode("ascii")


# Requests bring the same few again and again.
@lru_cache(maxsize=64)
def _media_type(line: bytes) -> MediaType | str:
    """What it says, or why readers differ in it."""
    found = PLAIN_TYPE.fullmatch(line)
    if found is None:
        return "Content-Type is not one type with plain parameters"
    spelled = _PARAMETERS.findall(found[2])
    if _has_capitals(found[1], spelled):
        return _HAS_CAPITALS
    parameters = tuple((name.lower(), value) for name, value in spelled)
    if len({name for name, _ in parameters}) < len(parameters):
        return "a parameter of Content-Type is there twice"
    return "Content-Type has a second boundary" if _hides_boundary(parameters) else MediaType(found[1], parameters)


def parameter_fault(found: MediaType, reads: str) -> Refused | None:
    """The refusal of a parameter that says nothing to a server that knows the type. Laravel looks for `/json` and
    `+json` in the whole field: a form with `; a=+json` is JSON to it."""
    for parameter, value in found.parameters:
        if parameter == b"boundary" and found.name.startswith(b"multipart/"):
            continue
        is_utf8 = parameter == b"charset" and value.strip(b'"').lower() == b"utf-8"
        if parameter.startswith(b"charset") and not is_utf8:
            advice = "Send it in UTF-8, with `charset=utf-8` or without a charset."
            return _ambiguous(f"{reads}, and Content-Type names another charset.", advice)
        if not is_utf8:
            why = f"{reads}, and Content-Type has a parameter by which some take it for another type."
            return _ambiguous(why, "Send no other one than `charset=utf-8`, and a multipart body's `boundary`.")
    return None


def _has_capitals(kind: bytes, parameters: list[tuple[bytes, bytes]]) -> bool:
    return kind != kind.lower() or any(
        name.lower() in _OF_ITS_READING and name != name.lower() for name, _ in parameters
    )


def _hides_boundary(parameters: tuple[tuple[bytes, bytes], ...]) -> bool:
    """Whether a reader that looks for the text, or joins what RFC 2231 cuts in pieces, finds another boundary. The word
    alone stands in what browsers draw (`----WebKitFormBoundary…`)."""
    return any(
        (b"boundary" in value.lower() and (name != b"boundary" or b"=" in value))
        or (b"boundary" in name and name != b"boundary")
        for name, value in parameters
    )


def coding_fault(headers: Headers, reads: str, *, is_form: bool, undoes_codings: bool = False) -> Refused | None:
    """The refusal of a body in any coding. Most servers do not undo one: Laravel finds no members in coded JSON, and
    goes on without them; Bottle and Rack find a form's fields among the coded bytes, whose head has room for any.

    `undoes_codings`: a body in plain gzip passes. Any other coding does not: aiohttp and Echo know `deflate, identity`
    and `GZIP` for none, and `deflate` is one of two formats. `is_form`: nor does a form or a multipart body, which no
    client codes: multer, busboy and formidable search the coded bytes for fields, whatever Express undoes.
    """
    if not _is_coded(headers) or (undoes_codings and not is_form and headers.all(b"content-encoding") == [_UNDONE]):
        return None
    detail = f"Not forwarded: {reads}, and many servers do not undo a request's coding."
    advice = "Send it without Content-Encoding"
    if undoes_codings and not is_form:
        advice = f"{advice}, or in `gzip` alone"
    elif not is_form:
        advice = f"{advice}; of an API that does undo it the policy may say `coded_bodies: undone`"
    return Refused(UNSUPPORTED_CODING, f"{detail} {advice}.", OF_BODIES)


def is_of_form(name: bytes) -> bool:
    """Whether a type (lower case) is a form's or that of a body of parts."""
    return name == FORM or name.startswith(b"multipart/")


def _respelled(headers: Headers) -> Refused | None:
    if OF_THE_BODY.isdisjoint(headers.respelled()):
        return None
    return _ambiguous("a header about this body is spelled without its dash.", "Spell it with a dash.")


def _is_coded(headers: Headers) -> bool:
    return b"content-encoding" in headers.respelled() or bool(named_codings(headers.all(b"content-encoding")))


def _ambiguous(why: str, advice: str) -> Refused:
    return Refused(AMBIGUOUS_TARGET, f"Not forwarded: {why} {advice}", OF_BODIES)
