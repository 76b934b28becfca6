"""The types of an operation's body, as the document calls them."""

from collections.abc import Mapping

from gateway.policy.compile.json_types import parse_json_type
from gateway.policy.finding import Wrong
from gateway.policy.openapi.tree import Node, Tree, text_of
from gateway.policy.reading import body_type

JSON = "application/json"
FORM = body_type.FORM.decode()
MULTIPART = body_type.MULTIPART.decode()
# As ASP.NET describes each JSON body; its callers send the plain type.
JSON_TOO = frozenset({"text/json", "application/*+json"})

_TYPES = 200


def content_of(tree: Tree, operation: Node) -> Node:
    """OpenAPI 3.1, section 4.8.13: by media types, or ranges of them, what is described."""
    body = tree.resolved(operation.get("requestBody"))
    content = None if isinstance(body, Wrong) else body.get("content")
    return content if isinstance(content, Mapping) else {}


def body_types(tree: Tree, operation: Node) -> tuple[str, ...] | None:
    """Each once; none where it has no body. None: it has one, and of what type is not told."""
    if operation.get("requestBody") is None:
        return ()
    return tuple(dict.fromkeys(map(plain_type, list(content_of(tree, operation))[:_TYPES]))) or None


def ends_in_json(name: str) -> bool:
    """Whether a type ends in `+json`, and is none that stands for several, so that `json_types` can name it."""
    return name.endswith("+json") and not isinstance(parse_json_type(name), Wrong)


def plain_type(name: object) -> str:
    return text_of(name).partition(";")[0].strip().lower()
