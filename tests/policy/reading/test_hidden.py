"""What of a text nobody sees."""

import sys
from unicodedata import category

import pytest

from gateway.policy.reading.hidden import hidden_in, seen

SEEN = {
    "letters and digits": "report7",
    "marks": "a.b_c-d:e/f%g",
    "a blank inside": "my report",
    "another blank inside": "\u5c71\u7530\u3000\u592a\u90ce",
    "another script": "\u043e\u0442\u0447\u0451\u0442",
    "a joiner of Persian": "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "a joined emoji": "\U0001f469\u200d\U0001f4bb",
    "a selected emoji": "\u2764\ufe0f",
    "a selected and joined emoji": "\u2764\ufe0f\u200d\U0001f525",
    "a sign shown as text": "\u2122\ufe0e",
    "a flag of tags": "\U0001f3f4\U000e0067\U000e0062\U000e007f",
    "a number of Arabic": "a \u06007 b",
    "Braille": "\u2801\u2800\u2803",
    "nothing": "",
}
HIDDEN = {
    "NUL": "7\0",
    "NUL and more": "7\0x",
    "line end": "a\nb",
    "tab": "a\tb",
    "escape": "\x1b[2J",
    "delete": "7\x7f",
    "next line": "7\x85",
    "line separator": "a\u2028b",
    "paragraph separator": "a\u2029b",
    "right to left": "a\u202eb",
    "isolate": "a\u2066b",
    "no width": "7\u200b",
    "byte order mark": "\ufeff7",
    "soft hyphen": "a\u00adb",
    "word joiner": "7\u2060",
    "filler": "7\u3164",
    "joiner behind ASCII": "7\u200d8",
    "joiner at the end": "\u00e9\u200d",
    "selector behind ASCII": "7\ufe0f",
    "selector behind a letter": "\u00e9\ufe0f",
    "selector behind a mark": "e\u0301\ufe0f",
    "selector behind a selector": "\u2764\ufe0f\ufe0f",
    "selector behind an ideograph": "\u845b\U000e0100",
    "selector of Unicode 3.2": "\u2229\ufe00",
    "tag behind ASCII": "7\U000e0037",
    "tag behind a letter": "\u00e9\U000e0037",
    "tag behind an emoji": "\U0001f469\U000e0037",
    "blank at the end": "7 ",
    "blank at the beginning": " 7",
    "no-break space at the end": "7\u00a0",
    "ideographic space at the end": "7\u3000",
    "a blank alone": " ",
    "a blank of Braille at the end": "7\u2800",
    "blanks of Braille at the beginning": "\u2800\u28007",
    "a note's empty head at the end": "7\U0001d159",
    "a sign of Arabic at the end": "7\u06dd",
    "a sign of Egypt at the end": "7\U00013439",
}


@pytest.mark.parametrize("text", SEEN.values(), ids=SEEN.keys())
def test_all_of_it_is_seen(text: str) -> None:
    """Any script, with what its spelling needs; blanks between words."""
    assert hidden_in(text) is None


@pytest.mark.parametrize("text", HIDDEN.values(), ids=HIDDEN.keys())
def test_something_in_it_is_hidden(text: str) -> None:
    """Control characters, line ends, what has no width or turns the text round, blanks at an end."""
    assert hidden_in(text) is not None


def test_whatever_some_language_trims_is_hidden_at_an_end() -> None:
    """Blanks, line ends, controls and formats, all that Unicode has: Ruby, JavaScript, Java, .NET, Perl and PHP each
    cut some of them."""
    trimmed = [one for one in map(chr, range(sys.maxunicode + 1)) if category(one) in {"Cc", "Cf", "Zs", "Zl", "Zp"}]

    assert [ascii(one) for one in trimmed if hidden_in(f"7{one}") is None or hidden_in(f"{one}7") is None] == []


@pytest.mark.parametrize(
    "text", ["name", "name\0", "name\0more", " name", "name\u2800\u2800", "na\u200bme", "\ufeffname\t"]
)
def test_a_reader_may_see_the_rest(text: str) -> None:
    """In C a text ends at a NUL; elsewhere what is hidden is dropped."""
    assert seen(text) == "name"
