"""What closed policies let through: kinds of bodies and names that are listed. Read here once more, as strictly."""

import re
from urllib.parse import unquote_to_bytes

from tests.fuzz.named import json_of
from tests.fuzz.reader import Message

_FORM = b"application/x-www-form-urlencoded"
_MULTIPART = re.compile(rb'multipart/form-data; ?boundary=(?:"[^"]+"|[^;"\s]+)(?:; ?charset=utf-8)?')
_PARTS = re.compile(rb'multipart/form-data; ?boundary=("?)([0-9A-Za-z]+)\1(?:; ?charset=utf-8)?')
# In whatever header of a part it stands, and whoever looks for it.
_NAME = re.compile(rb'(?<!file)name\*?[ \t]*=[ \t]*(?:"([^"\r\n]*)"|([^;\r\n]*))', re.IGNORECASE)
# Other names of a part, and parts within one.
_WITHIN = (b"content-id", b"multipart/", b"message/")
_MARK = re.compile(rb"[^a-z0-9]")
_SEPARATORS = re.compile(rb"[&;]")
# What the tests send of the fields that clients send by themselves, and what is dropped of those.
_NEEDED = frozenset((b"content-type", b"content-encoding", b"authorization", b"accept", b"referer", b"if-match"))
_LISTED = _NEEDED | {b"accept-encoding", b"idempotency-key", b"x-n", b"x-a", b"cookie", b"x-fencing-token"}
IDLE = frozenset((b"via", b"cache-control"))
_OF_THE_BODY = (b"content-type", b"content-encoding")


def board_of(message: Message, path: bytes, sent: tuple[tuple[bytes, bytes], ...]) -> bytes | None:
    """Which board is written; empty for what writes none, None for what nobody may send. `sent`: the fields that
    reach the API."""
    if any(name.lower() not in _LISTED for name, _ in sent) or not _has_plain_type(message):
        return None
    named = _named_board(message, path)
    # Of an API that is not said to compare conditions none reaches a write.
    return None if named and any(name.lower() == b"if-match" for name, _ in sent) else named


def _named_board(message: Message, path: bytes) -> bytes | None:
    body = json_of(message) if message.body else {}
    if not isinstance(body, dict):
        return None
    match message.method, path:
        case b"POST", b"/boards/find":
            return b"" if _query(message) == set() and _is_board(body) else None
        case b"POST", b"/boards":
            return _added(body) if _query(message) == set() else None
        case b"PUT", _ if path.startswith(b"/boards/"):
            kind = body.pop("kind", 1)
            is_listed = kind == "soft" or (kind == 1 and kind is not True)
            return path[8:] if is_listed and _query(message) <= {b"page"} and _is_board(body) else None
    return None


def card_of(message: Message, path: bytes) -> bytes | None:
    """Which card is written; as `board_of`."""
    if message.method == b"PATCH":
        return path[7:] if path.startswith(b"/cards/") and _is_form(message) else None
    fields = _fields(message)
    if message.method != b"POST" or fields is None:
        return None
    names = [name for name, _ in fields]
    if path == b"/cards":
        return _sent(message, fields) if _query(message) == set() else None
    if not set(names) <= {b"title", b"tags[]", b"tone"} or not _query(message) <= {b"page"}:
        return None
    tones = [value for name, value in fields if name == b"tone"]
    if path == b"/cards/preview":
        return None if tones else b""
    # A part has no value here.
    if tones not in ([], [b"soft"]):
        return None
    return path[7:] if path.startswith(b"/cards/") else None


def _is_board(body: dict[str, object]) -> bool:
    rows = body.get("rows", [])
    listed = rows if isinstance(rows, list) else [rows]
    return body.keys() <= {"text", "rows"} and all(isinstance(row, dict) and row.keys() <= {"id"} for row in listed)


def _added(body: dict[str, object]) -> bytes | None:
    dry, id = body.get("dry"), body.get("id")
    if dry is True:
        return b"" if body.keys() <= {"dry", "id"} else None
    if not (dry is None or dry is False) or not body.keys() <= {"dry", "id", "text"}:
        return None
    return id.encode("utf-8", "replace") if isinstance(id, str) and id else None


def _sent(message: Message, fields: list[tuple[bytes, bytes]]) -> bytes | None:
    """No field, cookie or header may be called as those that are looked at but in their place."""
    names = [name for name, _ in fields]
    if message.values(b"content-type") != [_FORM] or len(set(names)) < len(names):
        return None
    cookies = {name.strip().lower() for value in message.values(b"cookie") for name in re.split(rb"[=;]", value)}
    if b"mode" in cookies or (b"mode" not in names and message.values(b"mode")):
        return None
    said = dict(fields)
    mode = said.get(b"mode", b"")
    if mode == b"dry":
        return b"" if said.keys() <= {b"mode", b"id"} else None
    if mode.strip().lower() == b"dry" or b"id" in cookies or not said.keys() <= {b"mode", b"id", b"title"}:
        return None
    return said.get(b"id") or None


def _is_form(message: Message) -> bool:
    """By what is said of it: nobody reads it."""
    if not message.body:
        return True
    types = message.values(b"content-type")
    is_listed = len(types) == 1 and (types[0] == _FORM or _MULTIPART.fullmatch(types[0]) is not None)
    return is_listed and _has_plain_type(message) and not _is_coded(message)


def _is_coded(message: Message) -> bool:
    return any(value not in (b"", b"identity") for value in message.values(b"content-encoding"))


def _query(message: Message) -> set[bytes]:
    return {name for name, _ in _pairs(message.target.partition(b"?")[2])}


def _fields(message: Message) -> list[tuple[bytes, bytes]] | None:
    """Of a form, or of parts, whose values do not matter; none of no body."""
    if not message.body:
        return []
    types = message.values(b"content-type")
    if not _has_plain_type(message) or _is_coded(message):
        return None
    if types == [_FORM]:
        return _pairs(message.body)
    kind = _PARTS.fullmatch(types[0]) if len(types) == 1 else None
    return None if kind is None else _of_parts(message.body, kind[2])


def _of_parts(body: bytes, boundary: bytes) -> list[tuple[bytes, bytes]] | None:
    first, last = b"--" + boundary + b"\r\n", b"\r\n--" + boundary + b"--"
    count = body.count(first)
    plain = re.sub(rb"[\r\n]", b"", body).lower()
    whole = body.removesuffix(b"\r\n").removesuffix(b"\r\n")
    if whole == last.lstrip():
        # A form without a field.
        return []
    if not whole.startswith(first) or not whole.endswith(last):
        return None
    names = [quoted or bare for quoted, bare in _NAME.findall(body)]
    is_plain = plain.count(boundary) == count + 1 and not any(text in plain for text in _WITHIN)
    return [(name, b"") for name in names] if is_plain and len(names) == count else None


def _pairs(text: bytes) -> list[tuple[bytes, bytes]]:
    """Names and values as they are after their escapes are undone; those of nothing are none."""
    pairs = (pair.partition(b"=") for pair in _SEPARATORS.split(text))
    plain = ((_plainly(name), _plainly(value)) for name, _, value in pairs)
    return [pair for pair in plain if pair != (b"", b"")]


def _plainly(text: bytes) -> bytes:
    return unquote_to_bytes(text.replace(b"+", b" "))


def _has_plain_type(message: Message) -> bool:
    """Of the fields that say what a body is, none is spelled otherwise."""
    names = [name.lower() for name, _ in message.fields] if message.body else []
    return not any(_MARK.sub(b"-", name) in _OF_THE_BODY and name not in _OF_THE_BODY for name in names)
