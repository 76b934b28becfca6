"""GraphQL over HTTP: which operation a request asks for.

What an operation does is told by its type and its root fields, whatever it or its aliases are called. What could be
another document for another server is refused: batches, persisted documents, members beyond those of the draft
"GraphQL over HTTP", and what the GraphQL specification (October 2021) calls invalid.
"""

import re
from collections.abc import Mapping

from gateway.core.decision import AMBIGUOUS_TARGET, OF_GRAPHQL, Refused
from gateway.core.target import Target
from gateway.policy.finding import Wrong
from gateway.policy.reading.jsonbody import JsonValue, read_json
from gateway.policy.reading.operation import Operation
from gateway.policy.reading.parameters import read_query

_MEMBERS = ("query", "operationName", "variables", "extensions")
# Names for a document that the server has: the draft's, those of webonyx' parser (Lighthouse runs mutations by them at
# GET, too), and Relay's. Each of these wins over the body at some server when it stands in the URL.
_PARAMETERS = (*_MEMBERS, "documentId", "queryId", "id", "doc_id")
# A hand-written document is a hundred lines. The parser needs 5 us a token; what stands in a URL is parsed at once.
_MOST_TOKENS, _MOST_TOKENS_IN_URL = 10_000, 1_000
_NAME = re.compile("[_A-Za-z][_0-9A-Za-z]*")
# No document changes anything without one of these words: GraphQL has no other spelling of them.
_WRITING = re.compile(r"\b(?:mutation|subscription)\b", re.ASCII)


def read_operation(value: JsonValue, target: Target) -> Operation | Refused:
    """The operation of a POST, whose JSON body is `value`. Refused: `ambiguous-target`, and as `read_query`."""
    if target.query is not None:
        for name in _PARAMETERS:
            stray = read_query(target, name)
            if isinstance(stray, Refused):
                return stray
            if stray is not None:
                return ambiguous_graphql(f"`{name}` stands in the URL too, where some servers read it first")
    if isinstance(value, list):
        return ambiguous_graphql("it is a batch", "Send each operation as a request of its own.")
    return _requested(value, _MOST_TOKENS) if isinstance(value, dict) else ambiguous_graphql("it is no JSON object")


def read_operation_in_url(target: Target) -> Operation | Refused | None:
    """The operation of a GET; None if its URL asks for none."""
    members: dict[str, JsonValue] = {}
    for name in _PARAMETERS:
        text = read_query(target, name)
        if isinstance(text, Refused):
            return text
        if text is None:
            continue
        value = read_json(text.encode()) if name in ("variables", "extensions") else text
        if isinstance(value, Refused):
            return ambiguous_graphql(f"`{name}` in the URL is no plain JSON")
        members[name] = value
    return _requested(members, _MOST_TOKENS_IN_URL) if members else None


def write_in_url(target: Target) -> Refused | None:
    """The refusal of a GET that asks for more than a query: some servers run what stands in its URL. None: it does not.

    A subscription is refused too: of reads only a `read_only` entry lets one pass, and that is no GET's.
    """
    operation = read_operation_in_url(target)
    if operation is None or isinstance(operation, Refused):
        return operation
    if operation.kind == "query":
        return None
    return ambiguous_graphql(f"a GET is a read, and its URL asks for a {operation.kind}", "Send it with POST.")


def may_be_write_in_url(target: Target) -> bool:
    """Whether a GET at a path that nobody named as GraphQL's has to be looked at by `write_in_url`.

    What merely has a parameter of the name `query`, as searches do, has not.
    """
    texts = target.query_pairs()
    return any(("{" in text and _WRITING.search(text)) or "persistedquery" in text.casefold() for text in texts)


def _requested(members: Mapping[str, JsonValue], most_tokens: int) -> Operation | Refused:
    other = next((name for name in members if name not in _MEMBERS), None)
    if other is not None:
        return ambiguous_graphql(f"it has {other[:64]!r} beside {', '.join(_MEMBERS)}")
    text, name, variables, extensions = (members.get(member) for member in _MEMBERS)
    if not isinstance(extensions, dict | None) or not isinstance(variables, dict | None):
        return ambiguous_graphql("its variables or extensions are no object")
    if any(extension.casefold() == "persistedquery" for extension in extensions or {}):
        return ambiguous_graphql("it names a persisted document", "Send the document itself, without `persistedQuery`.")
    if not isinstance(text, str) or not isinstance(name, str | None):
        return ambiguous_graphql("its `query` or `operationName` is no text", "Send the document itself in `query`.")
    # Parsing GraphQL takes 0.1 s to import, and most gateways meet none.
    from gateway.policy.reading.graphql_document import parse_operation

    return parse_operation(text, name or None, variables or {}, most_tokens)


def ambiguous_graphql(why: str, advice: str = "Send one plain GraphQL request.") -> Refused:
    return Refused(
        AMBIGUOUS_TARGET, f"Nothing was forwarded: this is read as a GraphQL request, and {why}. {advice}", OF_GRAPHQL
    )


def parse_root_field(name: str) -> str | Wrong:
    """The name of a root field in a policy."""
    if not _NAME.fullmatch(name):
        return Wrong(f"`{name}` is no field of GraphQL; write the name of a root field, such as `issueCreate`")
    return name


def parse_argument(text: str) -> tuple[str, ...] | Wrong:
    """Compile `input.id`: an argument of the root fields, and the way into it."""
    names = tuple(text.split("."))
    if not all(map(_NAME.fullmatch, names)):
        return Wrong(f"`{{graphql.{text}}}` names no argument; write such as `{{graphql.input.id}}`")
    return names


def load_parser() -> None:
    """Import the parser now, so that no request waits for it."""
    import gateway.policy.reading.graphql_document  # noqa: F401  # for its effect on later imports
