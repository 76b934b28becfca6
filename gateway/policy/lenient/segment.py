"""A segment of a path as the most lenient servers compare it: without case, accents, marks and blanks.

CherryPy and TurboGears make an underscore of each mark in a method's name: what is called `publish_all` runs at
`/docs/publish-all` and `/docs/publish.all`, too. CakePHP takes a word's capital for a mark, and several marks for one:
`publish-all` runs at `/docs/publishAll`, `/docs/publish--all` and `/docs/-publish-all-`. To it a blank is a mark, too:
`/docs/publish%20all`.

What is a number or a truth to a framework is that in other spellings, too: FastAPI reads `level/03` and `level/30e-1`
as 3 and `public/yes` as true, Spring `level/0x3` as 3.
"""

import re
from string import punctuation

from gateway.policy.reading.caseless import caseless, unaccented
from gateway.policy.reading.number import BEGIN_NUMBERS, coded_number, plain_number

# Of category Zs, what languages with Unicode split words at as they do at a blank.
_OTHER_BLANKS = "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_MARKS = str.maketrans("", "", f"{punctuation} {_OTHER_BLANKS}")
_PLAIN_MARKS = f"{punctuation} ".encode()
_LOWER = bytes(range(256)).lower()
_ONLY_MARKS = "_"
# As RFC 9562 begins a UUID's name, without its marks: Python reads one with it and without.
_OF_UUID = "urnuuid"
_ADDRESS = re.compile(r"[0-9]{1,20}(?:\.[0-9]{1,20}){3}")
_TRUTHS = {
    **dict.fromkeys(("true", "yes", "on", "t", "y"), "1"),
    **dict.fromkeys(("false", "no", "off", "f", "n"), "0"),
}


def lenient_segment(text: str) -> str:
    """Equal for all that some server takes for one. Of marks alone one is left: it is no empty segment."""
    number = _number(text)
    if number is not None:
        return number
    if _ADDRESS.fullmatch(text):
        # Python's `ipaddress` of before 3.9.5, Java's and many a splitter's reading: zeros in front count for nothing.
        text = ".".join(str(int(one)) for one in text.split("."))
    if text.isascii():
        # In a fifth of the time, and nearly all has ASCII only.
        plain = text.encode("ascii").translate(_LOWER, _PLAIN_MARKS).decode("ascii")
    else:
        plain = caseless(unaccented(text)).translate(_MARKS)
    plain = plain.removeprefix(_OF_UUID) or plain
    return _TRUTHS.get(plain) or _number(plain) or plain or (text and _ONLY_MARKS)


def _number(text: str) -> str | None:
    """As it is spelled shortest, without its sign, which is a mark; None for what is none."""
    if text[:1] not in BEGIN_NUMBERS and text.isascii():
        return None
    number = plain_number(text)
    number = coded_number(text) if number is None else number
    return None if number is None else repr(abs(number)).removesuffix(".0")


def lenient_segments(segments: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(lenient_segment, segments))
