"""What a `pattern` of JSON Schema says of the values: digits alone, a UUID, letters of one case, words.

Only what is written plainly is read: characters, classes of them, and how often they stand. All else says nothing here.
"""

import re
from dataclasses import dataclass
from typing import Literal

PatternKind = Literal["integer", "signed", "number", "uuid", "hexadecimal", "lowercase", "uppercase", "word", "mixed"]

_DIGITS = frozenset("0123456789")
_HEXADECIMAL = _DIGITS | frozenset("abcdefABCDEF")
_LOWERCASE = _DIGITS | frozenset("abcdefghijklmnopqrstuvwxyz_-")
_UPPERCASE = _DIGITS | frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZ_-")
_WORD = _LOWERCASE | _UPPERCASE
# ECMA-262, which JSON Schema names: both are ASCII there.
_CLASSES = {"d": _DIGITS, "w": _WORD - {"-"}}
# A longer one is no form of an id, and reading it would take its time.
_LENGTH = 200
_UUID_LENGTH = 36
_DASHES = (8, 13, 18, 23)
_ENDLESS = 1 << 16

_ATOM = re.compile(
    r"(?:\\(?P<escape>.)|\[(?P<class>[^\[\]^\\](?:[^\[\]\\]|\\.)*|\\.(?:[^\[\]\\]|\\.)*)\]|(?P<char>[0-9A-Za-z_-]))"
    r"(?P<often>[*+?]|\{[0-9]{1,4}(?:,[0-9]{0,4})?\})?"
)
_IN_CLASS = re.compile(r"\\(?P<escape>.)|(?P<low>[^\\])-(?P<high>[^\\\]])|(?P<char>[^\\])")
_POINT = re.compile(r"\(?(?:\?:)?(?:\\\.|\[\.\])")


@dataclass(frozen=True, slots=True)
class _Piece:
    """Some characters, how often at least and at most."""

    characters: frozenset[str]
    least: int
    most: int


def pattern_kind(pattern: str) -> PatternKind | None:
    """None: it says nothing that counts. Without anchors it may stand for a part of the value, and whoever writes
    digits so means all of it; words and the like are believed only where the pattern says so.
    """
    begins, ends = pattern.startswith("^"), pattern.endswith("$") and not pattern.endswith("\\$")
    if len(pattern) > _LENGTH or begins != ends:
        return None
    whole = pattern[1:-1] if begins else pattern
    read = _ungrouped(whole)
    if begins and "|" in read and read == whole:
        # An anchor belongs to its branch alone.
        return None
    sign, unsigned = _unsigned(read)
    kinds = [_branch(branch) for branch in unsigned.split("|")]
    kind = kinds[0] if len(set(kinds)) == 1 else None
    if begins and kind is None and None not in kinds and "integer" in kinds:
        # `me|[0-9]+`: a name beside numbers is a second name of one of them.
        return "mixed"
    if sign:
        return "signed" if kind == "integer" else "number" if kind == "number" else None
    return kind if begins or kind in ("integer", "number") else None


def _ungrouped(text: str) -> str:
    """Without the one group around all of it."""
    for mark in ("(?:", "("):
        if text.startswith(mark) and text.endswith(")") and "(" not in text[len(mark) :] and ")" not in text[1:-1]:
            return text[len(mark) : -1]
    return text


def _unsigned(text: str) -> tuple[bool, str]:
    for sign in ("[+-]?", "[-+]?", "\\-?", "-?"):
        if text.startswith(sign):
            return True, text[len(sign) :]
    return False, text


def _branch(text: str) -> PatternKind | None:
    point = _POINT.search(text)
    if point is not None and _digits(text[: point.start()]) and _digits(text[point.end() :].rstrip("?)")):
        return "number"
    pieces = _pieces(text)
    if not pieces:
        return None
    characters = frozenset().union(*(piece.characters for piece in pieces))
    if characters <= _DIGITS:
        return _number(pieces)
    if characters <= _HEXADECIMAL | {"-"} and _is_uuid(pieces):
        return "uuid"
    if characters <= _LOWERCASE:
        return "lowercase"
    if characters <= _UPPERCASE:
        return "uppercase"
    if characters <= _HEXADECIMAL | {"-"} and characters >= frozenset("aA"):
        return "hexadecimal"
    return "word" if characters <= _WORD else None


def _digits(text: str) -> bool:
    pieces = _pieces(text)
    return bool(pieces) and all(piece.characters <= _DIGITS for piece in pieces)


def _number(pieces: list[_Piece]) -> PatternKind | None:
    """Of a fixed length a zero in front belongs to it, as in a postal code."""
    if pieces[0].least == 1 and "0" not in pieces[0].characters:
        return "integer"
    least, most = sum(piece.least for piece in pieces), sum(piece.most for piece in pieces)
    if least <= 1:
        return "integer"
    return "lowercase" if least == most else None


def _is_uuid(pieces: list[_Piece]) -> bool:
    if any(piece.least != piece.most for piece in pieces) or sum(piece.most for piece in pieces) != _UUID_LENGTH:
        return False
    each = [piece.characters for piece in pieces for _ in range(piece.most)]
    return all((one == {"-"}) if at in _DASHES else "-" not in one for at, one in enumerate(each))


def _pieces(text: str) -> list[_Piece]:
    """None of them where something else stands in the text."""
    pieces, at = [], 0
    while at < len(text):
        found = _ATOM.match(text, at)
        characters = None if found is None else _characters(found)
        if found is None or characters is None:
            return []
        pieces.append(_Piece(characters, *_often(found["often"])))
        at = found.end()
    return pieces


def _characters(atom: re.Match[str]) -> frozenset[str] | None:
    if atom["char"] is not None:
        return frozenset(atom["char"])
    if atom["escape"] is not None:
        return _escaped(atom["escape"])
    characters: set[str] = set()
    for one in _IN_CLASS.finditer(atom["class"]):
        some = _escaped(one["escape"]) if one["escape"] else frozenset(one["char"] or _between(one["low"], one["high"]))
        if some is None:
            return None
        characters |= some
    return frozenset(characters)


def _escaped(char: str) -> frozenset[str] | None:
    """A class by its name, or a mark that is escaped to mean itself."""
    return _CLASSES.get(char) or (None if char.isalnum() else frozenset(char))


def _between(low: str, high: str) -> str:
    """Beyond ASCII there is no form, whichever characters they are."""
    return "".join(chr(code) for code in range(ord(low), min(ord(high), 128) + 1)) + high


def _often(text: str | None) -> tuple[int, int]:
    match text:
        case None:
            return 1, 1
        case "*":
            return 0, _ENDLESS
        case "+":
            return 1, _ENDLESS
        case "?":
            return 0, 1
    least, comma, most = text[1:-1].partition(",")
    return int(least), int(most) if most else _ENDLESS if comma else int(least)
