"""What a request says of its body, and whether that lets a rule read it.

What is JSON to a rule and a form to its upstream would be two bodies. Frameworks differ in what they make of a type
that is missing, there twice or malformed, and many never undo a request's coding.
"""

import re
from typing import Literal

from gateway.core.decision import AMBIGUOUS_TARGET, UNSUPPORTED_CODING, Refused
from gateway.core.request import Headers, Request

Kind = Literal["json", "form"]

_FORM = b"application/x-www-form-urlencoded"
_TOKEN = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
# RFC 9110, section 5.6.6, without what a reader who knows no quotes would cut at: commas, semicolons, escapes.
_PARAMETER = rb";[ \t]*(" + _TOKEN + rb")=(" + _TOKEN + rb'|"[\t !#-+\--:<-\[\]-~]*")'
_TYPE = re.compile(rb"(" + _TOKEN + rb"/" + _TOKEN + rb")((?:[ \t]*(?:" + _PARAMETER + rb"|;))*)")
_PARAMETERS = re.compile(_PARAMETER)
# Readers that take `_` or `.` for `-` see a second field in another spelling; others do not.
_OF_THE_BODY = frozenset((b"content-type", b"content-encoding"))
_ADVICE = {
    "json": "Send `Content-Type: application/json`, once.",
    "form": f"Send `Content-Type: {_FORM.decode()}`, once; multipart/form-data is not read by rules.",
}


def body_fault(request: Request, kind: Kind) -> Refused | None:
    """Why the body cannot be read as `kind`, for its headers. An empty one without a type is JSON: it has no members.

    Refused: `ambiguous-target`, and `unsupported-coding` for a form in any coding, because a server that ignores it
    would find other fields in the coded bytes.
    """
    headers = request.headers
    if not _OF_THE_BODY.isdisjoint(headers.respelled()):
        return _ambiguous("a header about this body is spelled without its dash.", "Spell it with a dash.")
    lines = headers.all(b"content-type")
    if lines or request.body or kind == "form":
        fault = _type_fault(lines, kind)
        if fault is not None:
            return fault
    if kind == "form" and _is_coded(headers):
        detail = "Not forwarded: a rule reads this body as a form, and some servers do not undo a request's coding."
        return Refused(UNSUPPORTED_CODING, f"{detail} Send it without Content-Encoding.")
    return None


def _type_fault(lines: list[bytes], kind: Kind) -> Refused | None:
    reads = f"a rule reads this body as {'JSON' if kind == 'json' else 'a form'}, and "
    if not lines:
        return _ambiguous(f"{reads}no Content-Type says what it is.", _ADVICE[kind])
    if len(lines) > 1:
        return _ambiguous(f"{reads}Content-Type is there {len(lines)} times.", _ADVICE[kind])
    found = _TYPE.fullmatch(lines[0].strip(b" \t"))
    if found is None:
        return _ambiguous(f"{reads}Content-Type is not one type with plain parameters.", _ADVICE[kind])
    name = found[1].lower()
    if name != _FORM if kind == "form" else name != b"application/json" and not name.endswith(b"+json"):
        return _ambiguous(f"{reads}Content-Type calls it something else.", _ADVICE[kind])
    for parameter, value in _PARAMETERS.findall(found[2]):
        is_utf8 = parameter.lower() == b"charset" and value.strip(b'"').lower() == b"utf-8"
        if parameter.lower().startswith(b"charset") and not is_utf8:
            advice = "Send it in UTF-8, with `charset=utf-8` or without a charset."
            return _ambiguous(f"{reads}Content-Type names another charset.", advice)
    return None


def _is_coded(headers: Headers) -> bool:
    codings = (coding for line in headers.all(b"content-encoding") for coding in line.split(b","))
    return any(coding.strip().lower() not in (b"", b"identity") for coding in codings)


def _ambiguous(why: str, advice: str) -> Refused:
    return Refused(AMBIGUOUS_TARGET, f"Not forwarded: {why} {advice}")
