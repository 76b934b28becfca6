"""The bodies of requests as servers themselves read them: Werkzeug, Django, Bottle, Starlette, aiohttp and Python.

A reader gives the names and values of a form's fields and of its parts; none where its server refuses the request.
"""

import asyncio
import contextlib
import email
import email.policy
import functools
import json
from collections.abc import Callable, Coroutine, Iterable, Iterator
from io import BytesIO
from typing import Any
from urllib.parse import parse_qsl

import bottle
import yaml
from aiohttp import MultipartReader, StreamReader
from aiohttp.base_protocol import BaseProtocol
from django.conf import settings
from django.core.handlers.wsgi import WSGIRequest
from multidict import CIMultiDict
from pydantic_core import from_json
from starlette.requests import Request as StarletteRequest
from werkzeug.formparser import parse_form_data

Pairs = list[tuple[str, object]]
Members = dict[str, Any]
Reader = Callable[[str, bytes], Pairs]
FORM = "application/x-www-form-urlencoded"

# Django reads nothing without settings; these are its own.
if not settings.configured:
    settings.configure()


def _finding(reader: Reader) -> Reader:
    """In what it refuses, it finds nothing: each has errors of its own for that."""

    @functools.wraps(reader)
    def find(kind: str, body: bytes) -> Pairs:
        with contextlib.suppress(Exception):
            return reader(kind, body)
        return []

    return find


def environ(kind: str, body: bytes) -> dict[str, Any]:
    """A request as a server of WSGI gives it to an application."""
    said = {"REQUEST_METHOD": "POST", "PATH_INFO": "/", "SCRIPT_NAME": "", "SERVER_NAME": "localhost"}
    sent = {"CONTENT_TYPE": kind, "CONTENT_LENGTH": str(len(body)), "SERVER_PORT": "80", "QUERY_STRING": ""}
    return {**said, **sent, "wsgi.input": BytesIO(body), "wsgi.url_scheme": "http"}


@_finding
def werkzeug(kind: str, body: bytes) -> Pairs:
    """Flask's."""
    _, form, files = parse_form_data(environ(kind, body), stream_factory=lambda *_, **__: BytesIO())
    return [*form.items(multi=True), *files.items(multi=True)]


@_finding
def django(kind: str, body: bytes) -> Pairs:
    """In `request.POST` and `request.FILES`."""
    request = WSGIRequest(environ(kind, body))
    return [(name, value) for found in (request.POST, request.FILES) for name, value in _each(found.lists())]


@_finding
def in_bottle(kind: str, body: bytes) -> Pairs:
    """It reads any body as a form that is not called multipart, UTF-8 only if it is asked to."""
    return list(bottle.BaseRequest(environ(kind, body)).POST.decode().allitems())


@_finding
def starlette(kind: str, body: bytes) -> Pairs:
    """FastAPI's, by python-multipart."""

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def read() -> Pairs:
        scope = {"type": "http", "method": "POST", "headers": [(b"content-type", kind.encode())]}
        async with StarletteRequest(scope, receive).form() as form:
            return list(form.multi_items())

    return _at_once(read())


@_finding
def in_aiohttp(kind: str, body: bytes) -> Pairs:
    """Of parts; a urlencoded form it reads by Python's own."""
    if kind == FORM:
        return plainly(kind, body)
    loop = asyncio.new_event_loop()
    try:
        stream = StreamReader(BaseProtocol(loop), 1 << 16, loop=loop)
        stream.feed_data(body)
        stream.feed_eof()
        return _at_once(_parts(MultipartReader(CIMultiDict({"Content-Type": kind}), stream)))
    finally:
        loop.close()


@_finding
def plainly(kind: str, body: bytes) -> Pairs:
    """As Python reads a query, or mail."""
    if kind == FORM:
        return list(parse_qsl(body.decode("latin-1"), keep_blank_values=True))
    whole = email.message_from_bytes(
        b"Content-Type: %b\r\n\r\n%b" % (kind.encode(), body), policy=email.policy.compat32
    )
    names = (part.get_param("name", header="content-disposition") for part in whole.walk())
    return [(name, "") for name in names if isinstance(name, str)]


READERS: tuple[Reader, ...] = (werkzeug, django, in_bottle, starlette, in_aiohttp, plainly)


def python(body: bytes) -> Members:
    """The standard library's."""
    try:
        return _object(json.loads(body))
    except ValueError:
        return {}


def pydantic(body: bytes) -> Members:
    """FastAPI's models are read by it."""
    try:
        return _object(from_json(body))
    except ValueError:
        return {}


def in_yaml(body: bytes) -> Members:
    """Of which JSON is a part."""
    try:
        return _object(yaml.safe_load(body))
    except (yaml.YAMLError, ValueError, TypeError):
        return {}


JSON_READERS: tuple[Callable[[bytes], Members], ...] = (python, pydantic, in_yaml)


def _object(value: object) -> Members:
    return value if isinstance(value, dict) else {}


def _each(lists: Iterable[tuple[str, list[object]]]) -> Iterator[tuple[str, object]]:
    return ((name, value) for name, values in lists for value in values)


def _at_once(asked: Coroutine[Any, Any, Pairs]) -> Pairs:
    """The result of what has all that it waits for."""
    try:
        asked.send(None)
    except StopIteration as ended:
        return ended.value
    raise AssertionError("it waits for more than was sent")


async def _parts(reader: MultipartReader) -> Pairs:
    pairs: Pairs = []
    while (part := await reader.next()) is not None:
        if isinstance(part, MultipartReader):
            pairs += await _parts(part)
        else:
            pairs.append((part.name or "", bytes(await part.read())))
    return pairs
