"""What a request said, in 16 bytes: whether a repeated key stands for the same request.

JSON counts by value, multipart by its parts, all else by its bytes; what counts in two ways is never equal. What is
not quite JSON or multipart counts by its bytes as well: at worst a repeat is refused as another request.
"""

import hashlib
import json
import math
from dataclasses import dataclass

from gateway.core.coding import body_too_large, decoded
from gateway.core.decision import Refused
from gateway.core.request import Headers
from gateway.policy.finding import Wrong
from gateway.policy.reading import jsonrpc
from gateway.policy.reading.jsonbody import JsonReader, JsonValue, Missing, Number, Pointer, parse_pointer
from gateway.policy.reading.multipart import Multipart, multipart_of

_DIGEST_BYTES = 16
# Each value costs a microsecond and some eighty bytes: a body of nothing but small numbers would cost seconds.
_MOST_VALUES = 1_000_000


def _spelled(number: Number) -> list[float | str]:
    """A number as it was spelled. No body that is read holds NaN, so that no list passes for it."""
    return [math.nan, number.spelled]


_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False, default=_spelled)


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What a rule compares: the whole body, what some JSON pointers lead to, or nothing."""

    whole: bool = False
    pointers: tuple[Pointer, ...] = ()

    @property
    def needs_json(self) -> bool:
        """Whether the body must be JSON."""
        return bool(self.pointers)

    def begin(self, headers: Headers, limit: int, body: JsonReader | None = None) -> "FingerprintReading":
        """Begin to read the body of a request with these headers. `limit`: the bytes that may be held or decoded.

        `body` is what the match has read of it, decoded: it is not parsed again.
        """
        return FingerprintReading(self, headers, limit, body if body is not None and body.is_there else None)


NO_FINGERPRINT = Fingerprint()


class FingerprintReading:
    """One body: fed with all its pieces in order, then asked once for its digest.

    A body that comes in one piece, as most do, is digested only in the way in which it counts. Of others the bytes
    are digested as they come, because only their end shows in which way they count.
    """

    __slots__ = ("_body", "_bytes", "_first", "_form", "_headers", "_limit", "_multipart", "holds_json")

    def __init__(self, form: Fingerprint, headers: Headers, limit: int, body: JsonReader | None) -> None:
        self._form = form
        self._headers = headers
        self._limit = limit
        self._body = body
        self._first = b""
        self._bytes: hashlib.blake2b | None = None
        self.holds_json = form.needs_json or (form.whole and _is_json(headers))
        """Whether the body should be kept in memory, up to the limit, and given to `digest`."""
        self._multipart = _multipart(headers) if form.whole and not self.holds_json else None

    @property
    def wants_body(self) -> bool:
        """Whether the body has to be fed at all."""
        return self._form.whole or (self._form.needs_json and self._body is None)

    def looks_at(self, body: bytes | None) -> int:
        """Bytes that `digest` looks at, at most: what is coded may be as large as is allowed."""
        if self._body is not None:
            return len(self._body.body)
        is_decoded = self.holds_json and self._headers.all(b"content-encoding")
        return self._limit if body and is_decoded else len(body or b"")

    def feed(self, piece: bytes) -> None:
        """The next piece."""
        if not self._form.whole:
            return
        if self._bytes is None:
            if not self._first:
                self._first = piece
                return
            self._bytes = _hash(b"bytes")
            first, self._first = self._first, b""
            self.feed(first)
        self._bytes.update(piece)
        if self._multipart is not None:
            self._multipart.feed(piece)

    def digest(self, body: bytes | None) -> bytes | Refused:
        """The fingerprint; empty where nothing is compared. `body` is the whole body, or None if it is not held.

        Refused only for pointers: `ambiguous-target`, `body-too-large`, `unsupported-coding`.
        """
        if self._form.needs_json:
            return self._pointed(body)
        if not self._form.whole:
            return b""
        return (self._by_value(body) if self.holds_json else self._by_parts()) or self._by_bytes()

    def _by_value(self, body: bytes | None) -> bytes | None:
        """None if the body is no JSON that all read alike, or is too large or too crowded."""
        reader = self._reader(body)
        if isinstance(reader, Refused) or _is_crowded(reader.body):
            return None
        value = reader.value()
        return None if isinstance(value, Refused) else _digest_of(b"json", jsonrpc.action_of(value))

    def _by_parts(self) -> bytes | None:
        if self._multipart is None:
            return None
        if self._bytes is None:
            self._multipart.feed(self._first)
        return self._multipart.digest()

    def _by_bytes(self) -> bytes:
        if self._bytes is None:
            self._bytes = _hash(b"bytes")
            self._bytes.update(self._first)
        return self._bytes.digest()

    def _pointed(self, body: bytes | None) -> bytes | Refused:
        reader = self._reader(body)
        if isinstance(reader, Refused):
            return reader
        found: dict[str, JsonValue] = {}
        for pointer in self._form.pointers:
            value = reader.find(pointer)
            if isinstance(value, Refused):
                return value
            if not isinstance(value, Missing):
                found[pointer.text] = value
        return _digest_of(b"pointers", found)

    def _reader(self, body: bytes | None) -> JsonReader | Refused:
        if self._body is not None:
            return self._body
        if body is None:
            return body_too_large(self._limit)
        plain = decoded(body, self._headers.all(b"content-encoding"), self._limit)
        return plain if isinstance(plain, Refused) else JsonReader(plain)


def round_of(body: JsonReader) -> bytes:
    """What tells the rounds of one call apart; empty for the first, and for what is no call."""
    value = body.value() if body.is_there else None
    goes_on_with = None if isinstance(value, Refused) else jsonrpc.round_of(value)
    return b"" if goes_on_with is None else _digest_of(b"round", goes_on_with)


def _hash(kind: bytes) -> "hashlib.blake2b":
    """A digest with its kind in it: what counts in two ways is never equal."""
    return hashlib.blake2b(digest_size=_DIGEST_BYTES, person=kind)


def _digest_of(kind: bytes, value: JsonValue) -> bytes:
    digest = _hash(kind)
    digest.update(_ENCODER.encode(value).encode("ascii"))
    return digest.digest()


def _is_crowded(body: bytes) -> bool:
    """Whether it may hold more values than are read in good time. Neither order nor blanks make a difference to it."""
    return len(body) > _MOST_VALUES and body.count(b",") + body.count(b"[") + body.count(b"{") > _MOST_VALUES


def _one_type(headers: Headers) -> bytes:
    """The content type as it is spelled; empty without one, and if two are there."""
    types = headers.all(b"content-type")
    return types[0].strip() if len(types) == 1 else b""


def _is_json(headers: Headers) -> bool:
    kind = _one_type(headers).partition(b";")[0].strip().lower()
    return kind == b"application/json" or kind.endswith(b"+json")


def _multipart(headers: Headers) -> Multipart | None:
    """A coded one is not taken apart: it is hardly ever sent."""
    return None if headers.all(b"content-encoding") else multipart_of(_one_type(headers))


def parse_fingerprint(texts: list[str]) -> Fingerprint | Wrong:
    """Compile `request`, `none`, or a list of pointers."""
    match texts:
        case ["request"]:
            return Fingerprint(whole=True)
        case ["none"]:
            return NO_FINGERPRINT
    pointers: list[Pointer] = []
    for text in texts:
        if not text.startswith("/"):
            return Wrong(f"`{text}` is no JSON pointer; write `request`, `none`, or pointers such as `[/to, /subject]`")
        pointer = parse_pointer(text)
        if isinstance(pointer, Wrong):
            return pointer
        if pointer in pointers:
            return Wrong(f"`{text}` stands here twice; remove one")
        pointers.append(pointer)
    return Fingerprint(pointers=tuple(pointers))
