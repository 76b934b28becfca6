"""A JSON body read in the one way that no other reader can read otherwise, and JSON pointers into it (RFC 6901).

Most parsers keep the last of two equal names, some the first; some take NaN, a byte order mark or a lone surrogate,
others do not. A body with any of these could be one resource here and another at the upstream.
"""

import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Final

from gateway.core.decision import AMBIGUOUS_TARGET, OF_BODIES, Refused
from gateway.core.frozen import frozen
from gateway.policy.finding import Wrong
from gateway.policy.reading.caseless import caseless
from gateway.policy.reading.hidden import seen
from gateway.policy.reading.levels import nests_deeper
from gateway.policy.reading.overriding import overriding_among
from gateway.policy.reading.stand_in import Operated, is_reference, is_remade, operated_in
from gateway.policy.reading.twin import INHERITED, Names


@frozen
class Number:
    """A JSON number as it was spelled: `9007199254740993` must not become its neighbour."""

    spelled: str

    @property
    def survives(self) -> bool:
        """Whether it is still this number to a reader who keeps numbers as doubles and spells them anew."""
        return survives_double(Decimal(self.spelled))


def survives_double(number: Decimal) -> bool:
    """Whether the shortest spelling of the nearest IEEE 754 double is `number` again."""
    return Decimal(repr(float(number))) == number


class Missing(Enum):
    """The value of a pointer that leads nowhere; null is a value."""

    MISSING = "missing"


MISSING: Final = Missing.MISSING
JsonValue = None | bool | str | Number | list["JsonValue"] | dict[str, "JsonValue"]

# A double's ends at three; beyond nine, decimal arithmetic gives up.
_EXPONENT_DIGITS = 4
_INDEX = re.compile("0|[1-9][0-9]{0,8}")
_BLANKS = re.compile("[ \t\n\r]*")
_DEEPEST = 64
# Only these escapes make what `_check_texts` looks for.
_ODD_ESCAPE = re.compile(rb"\\u(?:[Dd][89A-Fa-f]|0000)")
# Without an exponent, every number of so many characters is a double's: 1e308 has 309 digits.
_LONG = 308
_SURROGATE = re.compile("[\ud800-\udfff]")


class _Unreadable(ValueError):
    """The body is JSON that two readers may read differently."""


class JsonReader:
    """A body as JSON, parsed at the first question and kept for the next ones.

    `refused`: names that an object at its top may not have.
    """

    __slots__ = ("_body", "_names", "_operated", "_refused", "_value")

    def __init__(self, body: bytes | None, refused: frozenset[str] = frozenset()) -> None:
        self._body = body
        self._refused = refused
        # By the identity of an object of the value, which is kept.
        self._names: dict[int, Names] = {}
        self._operated: dict[int, tuple[Operated, ...]] = {}
        self._value: JsonValue | Refused = None

    @property
    def is_there(self) -> bool:
        """Whether the body has been read at all; if not, the pointers cannot be followed yet."""
        return self._body is not None

    @property
    def body(self) -> bytes:
        """The bytes that are read; empty as long as there is no body."""
        return self._body or b""

    def value(self) -> JsonValue | Refused:
        """The whole body. Refused if it is not JSON that all readers read alike.

        All who ask are given one and the same value: whoever would change it makes a copy.
        """
        if self._value is None:
            value = read_json(self.body)
            member = overriding_among(value, self._refused) if self._refused and isinstance(value, dict) else None
            self._value = value if member is None else _overridden(member)
        return self._value

    def find(self, pointer: "Pointer") -> JsonValue | Missing | Refused:
        """What `pointer` leads to in a request; an empty body has no members. Refused as `value`, where a name on the
        way has a twin, and where an object stands in place of a list: an API that takes one item for a list of one
        finds that item there, whatever its member "0" says."""
        value = self.value() if self._body else None
        if isinstance(value, Refused):
            return value
        for at, token in enumerate(pointer.tokens):
            if isinstance(value, dict):
                doubt = _no_list(pointer, token) if _INDEX.fullmatch(token) else self._doubt(pointer, at, value)
                if doubt is not None:
                    return doubt
            found = _member(value, token)
            if isinstance(found, Missing):
                return found
            value = found
        return value

    def doubt_of_absence(self, pointer: "Pointer") -> Refused | None:
        """The refusal of a request in which nothing stands at `pointer`, where some readers find something: serde reads
        a list as an object's members in their order, others its only item, MCP's SDK for Python a text as JSON."""
        value = self.value() if self._body else None
        for token in pointer.tokens:
            if isinstance(value, list) and not _INDEX.fullmatch(token):
                return ambiguous_body(f"a list stands on the way to {pointer.text}", "Send an object there.")
            if isinstance(value, str) and looks_like_json(value):
                return ambiguous_body(f"a text that is JSON stands on the way to {pointer.text}", "Send no text there.")
            if isinstance(value, Refused) or isinstance(found := _member(value, token), Missing):
                break
            value = found
        return value if isinstance(value, Refused) else None

    def find_in_answer(self, pointer: "Pointer") -> JsonValue | Missing | Refused:
        """As `find`, in an answer: an API knows which name is its own, and has `_id` beside `id` in good faith."""
        value = self.value() if self._body else None
        if isinstance(value, Refused):
            return value
        if pointer.has_another_spelling(value):
            return ambiguous_body(f"{pointer.text} is there in two spellings, of case or with what nobody sees")
        return pointer.find(value)

    def _doubt(self, pointer: "Pointer", at: int, members: dict[str, JsonValue]) -> Refused | None:
        """The refusal of an object in which some readers find another member at the pointer's token `at`."""
        key, token = id(members), pointer.tokens[at]
        names = self._names.get(key)
        if names is None:
            names = self._names[key] = Names(members)
            self._operated[key] = operated_in(members) if names.may_operate else ()
        if names.inherited is not None:
            why = f"{names.inherited[:64]!r} stands on the way to {pointer.text}: in JavaScript every object has it"
            return ambiguous_body(why, "Send it without.")
        # At the top it could stand for what is in the body alone, as a schema's does.
        if at and is_reference(members) and not token.startswith("$"):
            why = f"an object with `$ref` stands on the way to {pointer.text}: some readers take another for it"
            return ambiguous_body(why, "Send the object itself there.")
        way = pointer.tokens[at:]
        if is_remade(members, way):
            why = f"its `meta` may say that something else stands at {pointer.text}, as superjson's does"
            return ambiguous_body(why, "Send it without.")
        twin = names.twin(way) or next(filter(None, (one.leading(way) for one in self._operated[key])), None)
        if twin is None:
            return None
        why = f"{pointer.text} is there in another spelling: some readers take {twin[:64]!r} for it"
        return ambiguous_body(why, f"Send `{token}`, as the policy spells it, and nothing like it.")


def read_json(body: bytes) -> JsonValue | Refused:
    """Parse a body, keeping numbers as spelled.

    Refused: what is not UTF-8 or not JSON, a byte order mark, bytes after the value, an object with two equal names
    (compared after unescaping), a NUL in a name, NaN, infinities, numbers beyond a double's range, lone surrogates, and
    more than 64 levels, beyond which some parsers give nothing (.NET; Ruby's 100, PHP's 512).
    """
    if nests_deeper(body, _DEEPEST):
        return ambiguous_body(f"it has more than {_DEEPEST} levels")
    try:
        value = _decoded(body.decode("utf-8"))
        if b"\\u" in body and _ODD_ESCAPE.search(body):
            _check_texts(value)
    except UnicodeDecodeError:
        return ambiguous_body("it is not UTF-8")
    except json.JSONDecodeError as error:
        return ambiguous_body(f"it is not JSON at character {error.pos + 1}")
    except _Unreadable as error:
        return ambiguous_body(str(error))
    except RecursionError:
        return ambiguous_body("it nests too deeply")
    return value


def _decoded(text: str) -> JsonValue:
    """As `decode`, which looks for blanks around the value even where there are none."""
    value: JsonValue
    value, end = _DECODER.raw_decode(text, 0 if text.startswith("{") else _behind_blanks(text, 0))
    if end < len(text) and (end := _behind_blanks(text, end)) < len(text):
        raise json.JSONDecodeError("Extra data", text, end)
    return value


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an object: its value, and where that stands in the text."""

    value: JsonValue
    start: int
    end: int


def read_members(text: str) -> dict[str, Member]:
    """The members of a JSON object, with their places; none if the text is no object, or one read in two ways."""
    members: dict[str, Member] = {}
    at, last = _behind_blanks(text, 0), "{"
    try:
        while text[at] == last:
            name_at = _behind_blanks(text, at + 1)
            name, at = _DECODER.raw_decode(text, name_at)
            at = _behind_blanks(text, at)
            if not isinstance(name, str) or name in members or "\0" in name or text[at] != ":":
                return {}
            start = _behind_blanks(text, at + 1)
            value, end = _DECODER.raw_decode(text, start)
            members[name] = Member(value, start, end)
            at, last = _behind_blanks(text, end), ","
        return members if text[at] == "}" and _behind_blanks(text, at + 1) == len(text) else {}
    except (json.JSONDecodeError, _Unreadable, RecursionError, IndexError):
        return {}


def _behind_blanks(text: str, at: int) -> int:
    """Where the next token begins."""
    found = _BLANKS.match(text, at)
    assert found is not None
    return found.end()


def ambiguous_body(why: str, advice: str = "Send one plain JSON value in UTF-8.") -> Refused:
    return Refused(AMBIGUOUS_TARGET, f"Nothing was forwarded: the body is read as JSON, and {why}. {advice}", OF_BODIES)


def _no_list(pointer: "Pointer", token: str) -> Refused:
    return ambiguous_body(f"{pointer.text} has an object where {token} is a place in a list", "Send a list there.")


def _overridden(member: str) -> Refused:
    detail = f"Nothing was forwarded: member {member} of the body would make another request of this one"
    return Refused(AMBIGUOUS_TARGET, f"{detail} at some servers. Send the one that is meant, without it.", OF_BODIES)


def _object(pairs: list[tuple[str, JsonValue]]) -> dict[str, JsonValue]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _Unreadable("an object has the same name twice")
    return members


def _number(spelled: str) -> Number:
    if "e" not in spelled and "E" not in spelled:
        in_range = len(spelled) <= _LONG or math.isfinite(float(spelled))
    else:
        in_range = math.isfinite(float(spelled)) and not _is_far(spelled)
    if not in_range:
        raise _Unreadable("a number is out of range")
    return Number(spelled)


def _is_far(spelled: str) -> bool:
    """Whether its exponent has too many digits; most numbers have not so many characters."""
    if len(spelled) <= _EXPONENT_DIGITS + 2:
        return False
    return len(spelled.lower().partition("e")[2].lstrip("+-")) > _EXPONENT_DIGITS


class _Integers(dict[str, Number]):
    """Those of a few digits are made once: a MiB may hold half a million of them, and making one takes ten times as
    long as finding it."""

    __slots__ = ()

    def __missing__(self, spelled: str) -> Number:
        return Number(spelled) if len(spelled) <= _LONG else _number(spelled)


_INTEGERS = _Integers((spelled, Number(spelled)) for spelled in ("-0", *map(str, range(-99, 1000))))


def _constant(name: str) -> JsonValue:
    raise _Unreadable(f"{name} is no JSON number")


def _check_texts(value: JsonValue) -> None:
    """What only an escape can put into a text: half a character, and an end that readers in C see in a name."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            if _SURROGATE.search(item):
                raise _Unreadable("it has a lone surrogate")
        elif isinstance(item, list):
            pending.extend(item)
        elif isinstance(item, dict):
            if any("\0" in name for name in item):
                raise _Unreadable("an object has a name with a NUL")
            pending.extend(item)
            pending.extend(item.values())


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_number, parse_int=_INTEGERS.__getitem__, parse_constant=_constant
)


@dataclass(frozen=True, slots=True)
class Pointer:
    """A compiled JSON pointer: one value or none."""

    text: str
    tokens: tuple[str, ...]

    def find(self, value: JsonValue) -> JsonValue | Missing:
        for token in self.tokens:
            found = _member(value, token)
            if isinstance(found, Missing):
                return found
            value = found
        return value

    def has_another_spelling(self, value: JsonValue) -> bool:
        """Whether a member on the way has a twin that differs in case only, or in what nobody sees: some readers would
        take that one."""
        for token in self.tokens:
            if isinstance(value, dict):
                folded = _folded(token)
                if any(name != token and _folded(name) == folded for name in value):
                    return True
            found = _member(value, token)
            if isinstance(found, Missing):
                return False
            value = found
        return False


def looks_like_json(text: str) -> bool:
    """Whether some readers take a text for an object or a list."""
    return text.lstrip().startswith(("{", "["))


def _member(value: JsonValue, token: str) -> JsonValue | Missing:
    """What one token of a pointer leads to."""
    if isinstance(value, dict):
        return value.get(token, MISSING)
    if isinstance(value, list) and _INDEX.fullmatch(token) and int(token) < len(value):
        return value[int(token)]
    return MISSING


def _folded(name: str) -> str:
    return caseless(seen(name))


def parse_pointer(text: str) -> Pointer | Wrong:
    """Compile `/a/b/0`. The empty pointer (the whole body) is refused: it never is one scalar of an object."""
    if not text.startswith("/"):
        return Wrong(f"`{text}` is not a JSON pointer; begin it with a slash, such as `/{text}`")
    if re.search("~(?![01])", text):
        return Wrong(f"`{text}` is not a JSON pointer; write `~0` for a tilde and `~1` for a slash in a name")
    tokens = tuple(token.replace("~1", "/").replace("~0", "~") for token in text[1:].split("/"))
    inherited = next((token for token in tokens if token in INHERITED), None)
    if inherited is not None:
        return Wrong(f"every object has {inherited!r} in JavaScript, so a body with it is refused; read another member")
    return Pointer(text, tokens)
