"""The admin API described for machines: an OpenAPI 3.1 document, made of the table of calls."""

import json
from collections.abc import Callable, Iterable, Mapping
from itertools import groupby

from aiohttp import web

from gateway import __version__
from gateway.admin.auth import OPEN_PATHS
from gateway.admin.call import Answer, Call, Parameter
from gateway.admin.shapes import (
    audit_chain,
    explanation,
    health,
    intents,
    notifications,
    pauses,
    policies,
    problems,
    quarantine,
    resources,
    store,
)
from gateway.admin.shapes.schema import Schema, one_of, ref
from gateway.core import problem
from gateway.core.decision import FORBIDDEN, INTERNAL, UNAUTHENTICATED, Decision

PATH = "/api/v1/openapi.json"
# Makes it when it is first asked for: otherwise a tenth of what a gateway needs to start.
DOCUMENT: web.AppKey[Callable[[], bytes]] = web.AppKey("openapi")

_PROBLEM = problem.CONTENT_TYPE.decode("ascii")
_ABOUT = """\
What operators see and change of a running gateway. HEAD is answered wherever GET is.

A call with a body wants `Content-Type: application/json`, and so does a POST with nothing to say: send `{}`. A list
goes on at `?cursor=` with its `next`. Epochs are texts of digits: they pass 2^53. Answers may get further members.
"""
_OPERATORS = "The admin token. Where the gateway was started without one, none is looked at."
_APPROVERS = """\
A principal that may approve. With principals, whoever approves or denies sends it, with or without the admin token;
without the token it shows what waits for an approval, and nothing else. Without principals no key is looked at."""
_SCHEMES = {
    "adminToken": {"type": "http", "scheme": "bearer", "description": _OPERATORS},
    "approverKey": {"type": "apiKey", "in": "header", "name": "Fencegate-Key", "description": _APPROVERS},
}
_SHAPES = (
    *(health, resources, intents, audit_chain, pauses, quarantine, notifications, policies, explanation, store),
    problems,
)


async def show_document(request: web.Request) -> web.Response:
    return web.Response(body=request.app[DOCUMENT](), content_type="application/json")


def render(calls: Iterable[Call]) -> bytes:
    """The document as it is served."""
    return json.dumps(describe(calls), indent=1).encode()


def describe(calls: Iterable[Call]) -> dict[str, object]:
    paths: dict[str, dict[str, object]] = {}
    for call in calls:
        paths.setdefault(call.path, {})[call.method.lower()] = _operation(call)
    schemas: dict[str, Schema] = {}
    for shapes in _SHAPES:
        schemas |= shapes.SHAPES
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "fencegate: admin API",
            "version": __version__,
            "description": _ABOUT,
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": _SCHEMES},
    }


def _operation(call: Call) -> dict[str, object]:
    described: dict[str, object] = {
        "operationId": call.name,
        "summary": call.summary,
        "tags": [_tag(call.path)],
        "parameters": [_parameter(parameter) for parameter in call.parameters],
        "responses": {str(answer.status): _answer(answer) for answer in call.answers} | _problems(call),
        "security": _security(call),
    }
    if call.body is not None:
        described["requestBody"] = {"required": True, "content": {"application/json": {"schema": call.body}}}
    return described


def _tag(path: str) -> str:
    """What the call is about: the first word behind the API's version."""
    about = path.removeprefix("/api/v1/")
    return about.partition("/")[0] if about != path and path != PATH else "listener"


def _parameter(parameter: Parameter) -> dict[str, object]:
    described = {
        "name": parameter.name,
        "in": parameter.where,
        "required": parameter.where == "path",
        "description": parameter.meaning,
        "schema": parameter.schema,
    }
    # An empty value is no value, and so none that its schema forbids.
    return described if parameter.where == "path" else described | {"allowEmptyValue": True}


def _answer(answer: Answer) -> dict[str, object]:
    return {"description": answer.meaning, "content": {answer.media: {"schema": answer.schema}}}


def _problems(call: Call) -> dict[str, object]:
    """By status; a problem's type says which of those it is."""
    any_call = (FORBIDDEN, INTERNAL) if call.path in OPEN_PATHS else (FORBIDDEN, INTERNAL, UNAUTHENTICATED)
    decisions = dict.fromkeys(sorted((*any_call, *call.problems), key=_status))
    return {str(status): _refusal(status, tuple(found)) for status, found in groupby(decisions, _status)}


def _refusal(status: int, decisions: tuple[Decision, ...]) -> dict[str, object]:
    types = one_of(f"urn:fencegate:{decision.name}" for decision in decisions)
    schema = {"allOf": [ref("Problem"), {"properties": {"type": types}}]}
    meaning = "; ".join(f"`{decision.name}`: {decision.title}" for decision in decisions)
    described: dict[str, object] = {"description": f"{meaning}.", "content": {_PROBLEM: {"schema": schema}}}
    if status == UNAUTHENTICATED.status:
        described["headers"] = {"WWW-Authenticate": {"schema": one_of(("Bearer",)), "required": True}}
    return described


def _status(decision: Decision) -> int:
    assert decision.status is not None, "only what the gateway itself answers is a problem"
    return decision.status


def _security(call: Call) -> list[Mapping[str, list[str]]]:
    """Each entry is one way to be let in."""
    if call.path in OPEN_PATHS:
        return []
    token: Mapping[str, list[str]] = {"adminToken": []}
    return [token, {"approverKey": []}] if call.for_approvers else [token]
