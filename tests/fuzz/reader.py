"""A second reader of HTTP/1.1, as strict as RFC 9112 lets one be, that shares nothing with the gateway's.

It says which requests a connection's bytes hold for certain. What it stops at, nobody may forward.
"""

import re
from dataclasses import dataclass, field

# RFC 9112, section 3: a blank of this line may be several; it is forwarded with one.
_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) +([^\x00-\x20\x7f]+) +HTTP/1\.([01])")
_VISIBLE = rb"[\x21-\x7e\x80-\xff]"
_FIELD = re.compile(
    rb"([!#$%%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:%b(?:[\t\x20-\x7e\x80-\xff]*%b)?)?)[ \t]*" % (_VISIBLE, _VISIBLE)
)
_SIZE = re.compile(rb"([0-9A-Fa-f]+)(?:[ \t]*;[^\r\n]*)?")
_LENGTH = re.compile(rb"[0-9]{1,19}")
_BODILESS = (b"GET", b"HEAD", b"OPTIONS", b"TRACE")


@dataclass(frozen=True)
class Message:
    """One whole request."""

    method: bytes
    target: bytes
    fields: tuple[tuple[bytes, bytes], ...]
    body: bytes
    keeps_alive: bool = field(default=True, compare=False)

    def values(self, name: bytes) -> list[bytes]:
        return [value for key, value in self.fields if key.lower() == name]


class _Incomplete(Exception):
    """More bytes are needed."""


class _Faulty(Exception):
    """No strict reader takes this for a request."""


@dataclass
class Reading:
    """What a connection's bytes hold. `faulty`: what follows the last message is none; else it may be unfinished."""

    messages: list[Message]
    taken: int
    faulty: bool


def read(data: bytes) -> Reading:
    """Every whole request from the beginning on, until one ends the connection, is faulty, or is unfinished."""
    reading = Reading([], 0, False)
    try:
        while reading.taken < len(data):
            message, reading.taken = _message(data, reading.taken)
            reading.messages.append(message)
            if not message.keeps_alive:
                break
    except _Faulty:
        reading.faulty = True
    except _Incomplete:
        pass
    return reading


def _message(data: bytes, at: int) -> tuple[Message, int]:
    # RFC 9112, section 2.2: empty lines before a request are ignored, and none of them is forwarded.
    while data[at : at + 1] in (b"\r", b"\n"):
        at += 1
    end = data.find(b"\r\n\r\n", at)
    if end < 0:
        raise _Incomplete
    first, *lines = data[at:end].split(b"\r\n")
    line = _LINE.fullmatch(first)
    if line is None:
        raise _Faulty
    method, target, minor = line.groups()
    fields = tuple(_fields(lines))
    message = Message(method, target, fields, b"")
    if minor == b"1" and len(message.values(b"host")) != 1:
        raise _Faulty
    body, at = _body(message, data, end + 4, minor == b"1")
    if body and method in _BODILESS:
        raise _Faulty
    options = {option.strip().lower() for value in message.values(b"connection") for option in value.split(b",")}
    keeps = b"close" not in options and (minor == b"1" or b"keep-alive" in options)
    return Message(method, target, fields, body, keeps and not message.values(b"upgrade")), at


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    fields = []
    for line in lines:
        found = _FIELD.fullmatch(line)
        if found is None:
            raise _Faulty
        fields.append((found[1], found[2]))
    return fields


def _body(message: Message, data: bytes, at: int, may_chunk: bool) -> tuple[bytes, int]:
    codings, lengths = message.values(b"transfer-encoding"), message.values(b"content-length")
    if codings:
        if lengths or not may_chunk or [coding.lower() for coding in codings] != [b"chunked"]:
            raise _Faulty
        return _chunks(data, at)
    if not lengths:
        return b"", at
    if len(lengths) > 1 or not _LENGTH.fullmatch(lengths[0]):
        raise _Faulty
    end = at + int(lengths[0])
    if end > len(data):
        raise _Incomplete
    return data[at:end], end


def _chunks(data: bytes, at: int) -> tuple[bytes, int]:
    body = b""
    while True:
        line, at = _until(data, at, b"\r\n")
        size = _SIZE.fullmatch(line)
        if size is None:
            raise _Faulty
        length = int(size[1], 16)
        if length >> 63:
            raise _Faulty
        if length == 0:
            break
        if data[at + length : at + length + 2] != b"\r\n":
            raise _Incomplete if at + length + 2 > len(data) else _Faulty
        body += data[at : at + length]
        at += length + 2
    while True:
        line, at = _until(data, at, b"\r\n")
        if not line:
            return body, at
        _fields([line])


def _until(data: bytes, at: int, mark: bytes) -> tuple[bytes, int]:
    end = data.find(mark, at)
    if end < 0:
        raise _Incomplete
    return data[at:end], end + len(mark)
