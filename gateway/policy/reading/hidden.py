"""What of a text nobody sees, and what readers do with it: the same name to some of them, and another one to others.

To what is written in C a text ends at a NUL; number parsers and frameworks cut blanks and line ends off; databases
compare without what has no width. Whoever is shown `7` is not told of any of it.
"""

import re

# Control characters, line and paragraph ends, and of Unicode's Default_Ignorable_Code_Point (UAX 44) all but those that
# Persian, the scripts of India and emoji are spelled with. A letter with a variation selector is shown as the letter.
_NEVER_SEEN = (
    "\x00-\x1f\x7f-\x9f\u2028\u2029\ufff9-\ufffb\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e"
    "\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\ufe00-\ufe0d\U000e0000-\U000e001f\U000e0080-\U000e0fff"
)
# These change what stands before them: joiners nothing in ASCII, selectors a symbol, and tags a black flag.
_JOINERS, _SELECTORS, _TAGS = "\u200c\u200d", "\ufe0e\ufe0f", "\U000e0020-\U000e007f"
# The blocks of emoji, without the letters and digits in between (UTS 51, emoji-variation-sequences.txt).
_SYMBOLS = (
    "\u00a9\u00ae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001faff"
)
# Laravel and Symfony cut these off at an end, as they do blanks: marks that go before digits and signs of old scripts
# (Unicode's Cf), an empty pattern of Braille, and a head of a note that nobody draws.
_CUT = "\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u2800\U000110bd\U000110cd\U00013430-\U0001343f\U0001d159"
_HIDDEN = re.compile(
    f"[{_NEVER_SEEN}]|(?<![^\x00-\x7f])[{_JOINERS}]|[{_JOINERS}]\\Z|(?<![{_SYMBOLS}])[{_SELECTORS}]"
    f"|(?<![\U0001f3f4{_TAGS}])[{_TAGS}]|\\A[{_CUT}]++|(?<![{_CUT}])[{_CUT}]++\\Z"
)


def hidden_in(text: str) -> str | None:
    """What is hidden in a text, for people; None if all of it is seen. Blanks inside it are."""
    # As nearly all are; the pattern takes twenty times as long.
    if not (text.isascii() and text.isprintable()) and _HIDDEN.search(text):
        return "has a control character, or one that nobody sees"
    return "begins or ends with a blank" if text != text.strip() else None


def seen(text: str) -> str:
    """The text without what is hidden in it, as a reader has it who drops that."""
    if text.isascii() and text.isprintable():
        return text.strip()
    return _HIDDEN.sub("", text.partition("\0")[0]).strip()
