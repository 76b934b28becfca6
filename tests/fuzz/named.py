"""What a body or a query names for every reader alike: read here once more, sharing nothing with the gateway."""

import json
import re
import zlib
from urllib.parse import unquote_to_bytes

from tests.fuzz.reader import Message

_SEPARATORS = re.compile(rb"[&;]")
_PLAIN = re.compile(rb"[a-z0-9]+")
_READS = frozenset(("ping", "tools/list"))
_NOTES = frozenset(("notifications/initialized",))
_GZIP = 31


def by_field(text: bytes) -> bytes | None:
    """The one plain value of `id` among fields, if no reader takes another of them for it."""
    values = []
    for pair in _SEPARATORS.split(text):
        name, _, value = pair.partition(b"=")
        folded = re.sub(rb"\[.*", b"", unquote_to_bytes(name.replace(b"+", b" "))).lower()
        if re.sub(rb"[^a-z0-9]", b"", folded) == b"id":
            values.append(unquote_to_bytes(value))
    return values[0] if len(values) == 1 and _PLAIN.fullmatch(values[0]) else None


def form_of(message: Message) -> bytes | None:
    """The resource of a form, which is plain and says so."""
    types = [value.lower() for value in message.values(b"content-type")]
    if types != [b"application/x-www-form-urlencoded"] or message.values(b"content-encoding"):
        return None
    # In a query it is the API's to refuse.
    return None if b"_method" in unquote_to_bytes(message.body).lower() else by_field(message.body)


def task_of(message: Message) -> bytes | None:
    """The resource that a task's body names."""
    body = json_of(message)
    named = body.get("id") if isinstance(body, dict) else None
    return named.encode("utf-8", "replace") if isinstance(named, str) else None


def note_of(message: Message) -> bytes | None:
    """The note that a call writes to; empty for a message that writes nothing, None for what nobody may send."""
    body = json_of(message)
    if isinstance(body, list):
        return b"" if body and all(_is_read(one) for one in body) else None
    for value in message.values(b"mcp-method"):
        if not isinstance(body, dict) or body.get("method") != value.decode("latin-1"):
            return None
    if _is_read(body):
        return b""
    params = body.get("params") if isinstance(body, dict) and body.get("method") == "tools/call" else None
    if not isinstance(params, dict) or params.get("name") != "write" or "task" in params:
        return None
    arguments = params.get("arguments")
    note = arguments.get("note") if isinstance(arguments, dict) else None
    return note.encode("utf-8", "replace") if isinstance(note, str) and note else None


def _is_read(message: object) -> bool:
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return False
    method, says = message.get("method"), message.keys() & {"result", "error"}
    if says:
        result = message.get("result")
        return "method" not in message and len(says) == 1 and isinstance(result, dict) and not result.keys() - {"roots"}
    params = message.get("params")
    if method == "tools/call":
        return isinstance(params, dict) and params.get("name") == "search"
    return method in _READS or (method in _NOTES and "id" not in message)


def json_of(message: Message) -> object:
    """A body's value; None for what two readers could read differently, whatever they ask for."""
    types = [value.lower() for value in message.values(b"content-type")]
    body = _decoded(message)
    if body is None or types != [b"application/json"]:
        return None
    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=_once, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _decoded(message: Message) -> bytes | None:
    lines = message.values(b"content-encoding")
    if all(one.strip().lower() in (b"", b"identity") for value in lines for one in value.split(b",")):
        return message.body
    # Servers that undo a coding know it by its exact name.
    if lines != [b"gzip"]:
        return None
    inflate = zlib.decompressobj(_GZIP)
    try:
        plain = inflate.decompress(message.body)
    except zlib.error:
        return None
    return plain if inflate.eof and not inflate.unused_data else None


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({name.casefold() for name, _ in pairs}) != len(pairs):
        raise ValueError
    return dict(pairs)


def _refused(_: str) -> object:
    raise ValueError
