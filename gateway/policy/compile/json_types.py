"""`json_types`: what an upstream reads as JSON beside `application/json`."""

import re

from gateway.core.rule import JSON_TYPES
from gateway.policy import schema
from gateway.policy.finding import Wrong
from gateway.policy.reading.body_type import FORM
from gateway.policy.report import Report

# RFC 6838, section 4.2.
_NAME = r"[0-9a-z][0-9a-z!#$&^_.+-]{0,126}"
_TYPE = re.compile(f"{_NAME}/{_NAME}")


def compile_json_types(report: Report, shape: schema.Policy) -> frozenset[bytes]:
    """The types in lower case; `application/json` is always one of them. Faults are noted."""
    return JSON_TYPES.union(report.take_each(("json_types",), shape.json_types, parse_json_type))


def parse_json_type(name: str) -> bytes | Wrong:
    """One type in lower case."""
    found = parse_media_type(name)
    if not isinstance(found, Wrong) and (found == FORM or found.startswith(b"multipart/")):
        return Wrong(f"`{name}` is a form and no JSON; remove it (rules read a form by `{{form.NAME}}`)")
    return found


def parse_media_type(name: str) -> bytes | Wrong:
    """One of any kind, in lower case."""
    lower = name.lower()
    if not name.isascii() or not _TYPE.fullmatch(lower):
        return Wrong(f"`{name}` is no media type; write such as `application/vnd.api+json`, without parameters or `*`")
    return lower.encode("ascii")
