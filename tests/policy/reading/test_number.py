"""Which number a text spells."""

from math import inf

import pytest

from gateway.policy.reading.number import BEGIN_NUMBERS, coded_number, plain_number

PLAIN = [
    *(
        (one, 3.0)
        for one in ("3", "+3", "03", "0_3", "3.", "3.00", "3 .0", "3e0", "30E-1", ".3e+1", "3e000000", "\u0663")
    ),
    *((one, 0.5) for one in (".5", "0.50", "5e-1", "0.5000000000000000000000001")),
    *(("-7", -7.0), ("9" * 400, inf), ("1e999", inf), ("0" * 5000 + "3", 3.0)),
]
CODED = [
    *((one, 10.0) for one in ("0xA", "0X0a", "#A", "0b1010", "0o12", "10d", "10F", "10L", "1e1d", "0x1.4p3", "0x_a")),
    *(("-0x10", -16.0), ("+0b11", 3.0), (f"0x{'f' * 400}", inf), (f"0b{'1' * 2000}", inf)),
]


@pytest.mark.parametrize(("text", "number"), PLAIN)
def test_a_number_has_many_spellings(text: str, number: float) -> None:
    """What a double does not tell apart is one."""
    assert plain_number(text) == number


@pytest.mark.parametrize(("text", "number"), CODED)
def test_programs_have_more(text: str, number: float) -> None:
    """Which readers of plain numbers do not know."""
    assert coded_number(text) == number
    assert plain_number(text) is None


@pytest.mark.parametrize(
    "text",
    ["", ".", "+", "_", "e1", ".e1", "1e", "1,5", "1.2.3", "7a", "0x", "#", "0xg", "0b2", "0o8", "d", "inf", "nan"],
)
def test_other_texts_spell_none(text: str) -> None:
    """A mark alone does not, nor does a word."""
    assert plain_number(text) is None
    assert coded_number(text) is None


@pytest.mark.parametrize("text", [text for text, _ in (*PLAIN, *CODED)])
def test_a_number_is_told_by_how_it_begins(text: str) -> None:
    """Or by what is not ASCII: of most texts nothing more is asked."""
    assert text[0] in BEGIN_NUMBERS or not text.isascii()


@pytest.mark.parametrize("text", ["9" * 100_000 + "x", "0x" + "f" * 100_000 + "x", "1_" * 50_000 + ".", "1e" * 50_000])
def test_of_a_long_text_it_is_told_at_once(text: str) -> None:
    """None is read again and again from another place."""
    assert plain_number(text) in (None, inf)
    assert coded_number(text) is None
