"""The OpenAPI document as the judge of answers: everything that comes is described, every member of it too."""

import copy
import json
import re
from functools import cache
from typing import Any

import jsonschema

from gateway.admin.call import Call
from gateway.admin.calls import CALLS
from gateway.admin.openapi import describe
from tests.raw import RawAnswer


def check_described(method: str, target: str, answer: RawAnswer) -> None:
    """A call that is in the table answers nothing that the document does not have."""
    call = _call_of(method, target.partition("?")[0])
    if call is None:
        return
    media = (answer.value("Content-Type") or "").partition(";")[0]
    validator = _validator(call.method, call.path, answer.status, media)
    if media.endswith("json"):
        validator.validate(json.loads(answer.body))


def _call_of(method: str, path: str) -> Call | None:
    """As the router finds it: an entry without parameters first, then the first that fits."""
    found = [call for call in CALLS if call.method == method and re.fullmatch(_pattern(call.path), path)]
    return next((call for call in found if call.path == path), found[0] if found else None)


def _pattern(path: str) -> str:
    return path.replace("{resource}", ".+").replace("{id}", "[^/]+")


@cache
def _closed() -> Any:
    """The document as it would be if answers could not get further members."""
    return _close(json.loads(json.dumps(describe(CALLS))))


def _close(part: Any) -> Any:
    if isinstance(part, list):
        return [_close(each) for each in part]
    if not isinstance(part, dict):
        return part
    closed = {name: _close(each) for name, each in part.items()}
    if part.get("type") == "object" and "properties" in part:
        closed["additionalProperties"] = False
    return closed


@cache
def _validator(method: str, path: str, status: int, media: str) -> jsonschema.Draft202012Validator:
    document = _closed()
    answers = document["paths"][path][method.lower()]["responses"]
    assert str(status) in answers, f"{method} {path} is not described as answering {status}"
    content = answers[str(status)]["content"]
    assert media in content, f"{method} {path} is not described as answering {status} with {media}"
    schema = copy.copy(content[media]["schema"])
    return jsonschema.Draft202012Validator({**schema, "components": document["components"]})
