"""Which rule would take a request, asked of the policies in force: what `fencegate explain` asks of files."""

from dataclasses import asdict

from aiohttp import web

from gateway.admin.answer import refusal
from gateway.admin.document import Document, read_document
from gateway.admin.running import RUNNING
from gateway.core.caller import Caller
from gateway.core.decision import BAD_REQUEST, Refused
from gateway.core.request import Headers, Request
from gateway.policy.review.answer import build_request, typed_as_json
from gateway.policy.review.explain import explain
from gateway.policy.ruleset import RuleSet

_KNOWN = frozenset({"method", "target", "headers", "body", "principal"})
# Longer than any that is in use.
_LONGEST_METHOD = 32
# What has a line of its own could not come over the wire.
_HEADERS = '`headers` must be a list of pairs of printable texts, as in [["Host", "reports.internal"]]'


async def explain_request(request: web.Request) -> web.Response:
    """The decision, and why each rule takes the request or does not. Nothing is sent, and no store is asked."""
    rules = request.app[RUNNING].rules()
    document = await read_document(request, _KNOWN)
    asked = document if isinstance(document, Refused) else _read(document)
    if isinstance(asked, Refused):
        return refusal(asked)
    assert not isinstance(document, Refused), "it was read"
    caller = _caller(rules, document)
    if isinstance(caller, Refused):
        return refusal(caller)
    return web.json_response(asdict(explain(rules, asked, caller)))


def _read(document: Document) -> Request | Refused:
    """The request as an agent would send it; its body is JSON where no header says otherwise."""
    method, target, body = (document.get(name) for name in ("method", "target", "body"))
    if not isinstance(method, str) or not method.isascii() or not 0 < len(method) <= _LONGEST_METHOD:
        return _malformed('`method` must be a method\'s name, as in "PUT"')
    if not isinstance(target, str) or not target.startswith("/"):
        return _malformed("`target` must be the path that agents use, from its slash on, with the query if it has one")
    if body is not None and not isinstance(body, str):
        return _malformed("`body` must be a text")
    headers = _read_headers(document)
    if isinstance(headers, Refused):
        return headers
    given = None if body is None else body.encode("utf-8")
    return build_request(method, target, typed_as_json(headers) if given else headers, given)


def _read_headers(document: Document) -> Headers | Refused:
    listed = document.get("headers", [])
    if not isinstance(listed, list):
        return _malformed(_HEADERS)
    pairs = []
    for pair in listed:
        match pair:
            case [str(name), str(value)] if name and (name + value).isprintable():
                pairs.append((name.encode("utf-8"), value.encode("utf-8")))
            case _:
                return _malformed(_HEADERS)
    return Headers(pairs)


def _caller(rules: RuleSet, document: Document) -> Caller | Refused:
    """Who asks: somebody who may write everything, where no principal is named."""
    name = document.get("principal")
    if name is None:
        return Caller()
    found = rules.principals.named(name) if isinstance(name, str) else None
    return found or _malformed("`principal` must be the name of one that the policies have")


def _malformed(what: str) -> Refused:
    return Refused(BAD_REQUEST, f"Nothing was explained: {what}.")
