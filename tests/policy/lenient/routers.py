"""Which view servers run at a path: Flask's, Django's, Starlette's and Bottle's own routers, and two as others do it.

Each has a view at `/docs/secret` and others around it, and is given the path as its usual HTTP server passes it on.
"""

import posixpath
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

import bottle
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, URLResolver
from django.urls import path as django_path
from django.urls.resolvers import RegexPattern
from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from werkzeug.exceptions import HTTPException
from werkzeug.routing import Map, RequestRedirect, Rule

SECRET, OTHERS = "/docs/secret", ("/docs/{id}", "/docs/{id}/{part}", "/docs/{id}/{part}/{more}")
Router = Callable[[str], bool]


def flask(path: str) -> bool:
    """Behind gunicorn, which undoes a path's escapes once."""
    try:
        endpoint, _ = _FLASK.bind("localhost").match(_decoded(path))
    except (HTTPException, RequestRedirect):
        return False
    return bool(endpoint == SECRET)


def django(path: str) -> bool:
    """Behind gunicorn, too."""
    try:
        return _DJANGO.resolve(_decoded(path)).url_name == SECRET
    except Resolver404:
        return False


def starlette(path: str) -> bool:
    """Behind uvicorn."""
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": unquote(path), "root_path": ""}
    matches = (route.path for route in _STARLETTE if route.matches(scope)[0] is Match.FULL)
    return next(matches, None) == SECRET


def in_bottle(path: str) -> bool:
    """Behind any server of WSGI."""
    environ = {"PATH_INFO": unquote_to_bytes(path).decode("latin-1"), "REQUEST_METHOD": "GET"}
    return b"".join(_BOTTLE(environ, lambda *_: None)) == SECRET.encode()


def as_a_url(path: str) -> bool:
    """As servers whose router takes a URL (Deno, Bun, Hono): by the URL standard, which drops tabs and line ends and
    resolves segments of dots, escaped ones too, and then with the escapes undone."""
    cleaned = "".join(one for one in path if one not in "\t\n\r").replace("\\", "/").strip("\0 ")
    segments: list[str] = []
    for segment in cleaned.split("#")[0].split("/"):
        dots = segment.lower().replace("%2e", ".")
        if dots == "..":
            segments = segments[:-1] or [""]
        elif dots != ".":
            segments.append(segment)
    return unquote("/".join(segments)) == SECRET


def corrected(path: str) -> bool:
    """As Go's routers redirect to what they know: without empty and dotted segments, without the slash at the end, in
    any case."""
    cleaned = posixpath.normpath(_decoded(path))
    return cleaned.replace("//", "/").casefold() == SECRET


ROUTERS: tuple[Router, ...] = (flask, django, starlette, in_bottle, as_a_url, corrected)


def flask_number(path: str) -> int | None:
    """Of `/users/<int:id>`."""
    try:
        _, found = Map([Rule("/users/<int:id>", endpoint="user")]).bind("localhost").match(_decoded(path))
    except (HTTPException, RequestRedirect):
        return None
    return int(found["id"])


def django_number(path: str) -> int | None:
    """Of the same pattern."""
    try:
        return int(_NUMBERED.resolve(_decoded(path)).kwargs["id"])
    except Resolver404:
        return None


def fastapi_number(path: str) -> int | None:
    """Of `/users/{id}`, where the view's parameter is an `int`."""
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": unquote(path), "root_path": ""}
    match, child = Route("/users/{id}", _other).matches(scope)
    if match is not Match.FULL:
        return None
    try:
        return int(_INTEGER.validate_python(child["path_params"]["id"]))
    except ValidationError:
        return None


NUMBERS: tuple[Callable[[str], int | None], ...] = (flask_number, django_number, fastapi_number)


def _decoded(path: str) -> str:
    return unquote_to_bytes(path).decode("utf-8", "replace")


async def _other(_: Request) -> Response:
    return Response()


def _view(_: HttpRequest) -> HttpResponse:
    return HttpResponse()


def _placed(pattern: str, marks: str) -> str:
    """With a framework's own marks around a placeholder's name."""
    return pattern.replace("{", marks[0]).replace("}", marks[1])


_FLASK = Map([Rule(_placed(one, "<>"), endpoint=one) for one in (SECRET, *OTHERS)])
_DJANGO = URLResolver(
    RegexPattern(r"^/"), [django_path(_placed(one[1:], "<>"), _view, name=one) for one in (SECRET, *OTHERS)]
)
_STARLETTE = [Route(one, _other) for one in (SECRET, *OTHERS)]
_BOTTLE = bottle.Bottle()
for _one in (SECRET, *OTHERS):
    _BOTTLE.route(_placed(_one, "<>"), callback=lambda one=_one, **_: one)
_NUMBERED = URLResolver(RegexPattern(r"^/"), [django_path("users/<int:id>", _view)])
_INTEGER = TypeAdapter(int)
