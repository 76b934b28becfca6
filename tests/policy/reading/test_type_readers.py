"""What a body calls itself is one type to all: drawn Content-Types, as servers' own readers take them apart."""

import email.message
from collections.abc import Callable

import bottle
import pytest
from aiohttp.helpers import parse_mimetype
from django.core.handlers.wsgi import WSGIRequest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from python_multipart.multipart import parse_options_header
from werkzeug.wrappers import Request as WerkzeugRequest

from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target
from gateway.policy.bodies import Bodies
from tests.policy.reading.servers import FORM, environ

JSON, PARTS = "application/json", "multipart/form-data"
Told = tuple[str, str | None]


def werkzeug(kind: str) -> Told:
    request = WerkzeugRequest(environ(kind, b"{}"))
    return request.mimetype, request.mimetype_params.get("boundary")


def django(kind: str) -> Told:
    request = WSGIRequest(environ(kind, b"{}"))
    return request.content_type or "", (request.content_params or {}).get("boundary")


def in_bottle(kind: str) -> Told:
    """It tells JSON alone by its type."""
    is_json = bottle.BaseRequest(environ(kind, b'{"a": 1}')).json is not None
    return (JSON if is_json else kind.partition(";")[0]), starlette(kind)[1]


def starlette(kind: str) -> Told:
    name, options = parse_options_header(kind)
    boundary = options.get(b"boundary")
    return name.decode("latin-1"), None if boundary is None else boundary.decode("latin-1")


def in_aiohttp(kind: str) -> Told:
    told = parse_mimetype(kind)
    return f"{told.type}/{told.subtype}" + (f"+{told.suffix}" if told.suffix else ""), told.parameters.get("boundary")


def mail(kind: str) -> Told:
    """Python's own."""
    message = email.message.Message()
    message["Content-Type"] = kind
    return message.get_content_type(), message.get_boundary()


READERS: list[Callable[[str], Told]] = [werkzeug, django, in_bottle, starlette, in_aiohttp, mail]
NAMES = [
    JSON,
    JSON,
    FORM,
    PARTS,
    PARTS,
    "application/vnd.api+json",
    "text/plain",
    "application/JSON",
    "application/json5",
]
PARAMETERS = [
    *(
        "charset=utf-8",
        'charset="UTF-8"',
        "boundary=b7",
        'boundary="b7"',
        'boundary="b 7"',
        "boundary=b7x",
        "a=1",
        "q=0",
    ),
    *(
        "charset=utf-16",
        "boundary*=utf-8''x",
        "boundary*0=b",
        "Boundary=x",
        "boundary='b'",
        "boundary=",
        "boundary",
        "x",
    ),
    *('a=";boundary=x"', 'boundary="b;7"', 'boundary="b\\"7"', "boundary=b,7", "a=application/json", "profile=x", '"'),
]
BETWEEN = ["; ", "; ", ";", " ; ", ";; ", ", ", ";\t", " "]


@st.composite
def kinds(draw: st.DrawFn) -> str:
    """A name, and a parameter or two behind it."""
    text = draw(st.sampled_from(["", "", "", " ", ";", "x;", f"{JSON}, "])) + draw(st.sampled_from(NAMES))
    for parameter in draw(st.lists(st.sampled_from(PARAMETERS), max_size=2)):
        text += draw(st.sampled_from(BETWEEN)) + parameter
    # Blanks around a field's value are none of it.
    return (text + draw(st.sampled_from(["", "", "", ";", " ", ","]))).strip()


@pytest.mark.parametrize("listed", [JSON, FORM, PARTS])
@given(kinds())
@settings(max_examples=150)
@example(JSON)
@example(f"{FORM}; charset=utf-8")
@example(f'{PARTS}; boundary="b7"')
def test_a_type_that_is_listed_is_that_one_to_all(listed: str, kind: str) -> None:
    """With one boundary, where it is of parts."""
    target = read_target("/docs")
    assert isinstance(target, Target)
    sent = Request("POST", target, Headers(((b"Content-Type", kind.encode()),)), b"{}")

    if Bodies((listed.encode(),)).refusal(sent) is None:
        told = [reader(kind) for reader in READERS]
        assert {name for name, _ in told} == {listed}
        assert listed != PARTS or len({boundary for _, boundary in told}) == 1
