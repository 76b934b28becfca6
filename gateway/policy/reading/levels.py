"""How deep JSON nests, told before it is parsed: in a few passes over the bytes, whatever they are."""

from array import array
from itertools import accumulate

_BRACKETS = b"[]{}"
_NOT_BRACKETS = bytes(set(range(256)) - set(_BRACKETS))
_NEITHER_BRACKETS_NOR_QUOTES = bytes(set(_NOT_BRACKETS) - set(b'"'))
# In JSON the two kinds nest in each other: the number of levels is the same with one of them.
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_STEPS = bytes.maketrans(b"[]", b"\x01\xff")
# As bytes with a sign, added up in a few milliseconds: between two pieces other threads have their turn.
_AT_ONCE = 256 << 10


def nests_deeper(body: bytes, most: int) -> bool:
    """Whether JSON has more than `most` levels. What is no JSON may be taken for either: its parser refuses it."""
    if body.count(b"[") + body.count(b"{") <= most:
        return False
    brackets, level = _outside_texts(body), 0
    for start in range(0, len(brackets), _AT_ONCE):
        piece = brackets[start : start + _AT_ONCE]
        if level + max(accumulate(array("b", piece.translate(_STEPS)))) > most:
            return True
        level += piece.count(b"[") - piece.count(b"]")
    return False


def _outside_texts(body: bytes) -> bytes:
    """The brackets that stand in no text, all of one kind."""
    if b"\\" in body:
        # In this order: of three in a row, the third escapes what follows.
        body = body.replace(b"\\\\", b"").replace(b'\\"', b"")
    if b'"' not in body:
        return body.translate(_ONE_KIND, _NOT_BRACKETS)
    # Two quotes with no bracket between them open and close, or close and open: the rest stands where it stood.
    marks = body.translate(_ONE_KIND, _NEITHER_BRACKETS_NOR_QUOTES).replace(b'""', b"")
    return b"".join(marks.split(b'"')[::2])
