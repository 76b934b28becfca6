"""The spellings of ids."""

import pytest

from gateway.policy.value_form import ValueForm, misfit

WORDS = ["7", "07", "0", "pi_1", "_all", "-", "C0123456789", "9223372036854775808"]
INTEGERS = ["0", "7", "10", "9007199254740993", "9223372036854775807"]
ODD = [
    "7:archive",
    "7,8",
    "*",
    "+7",
    "7.0",
    "7/8",
    "7%2F8",
    " 7",
    "7 ",
    "7\n",
    "é",
    "\u0667",
    "\uff17",
    "a.b",
    "#a",
    "a@b",
]


UUIDS = ["0f1d2c3b-4a59-4687-9a0b-c1d2e3f40007", "00000000-0000-0000-0000-000000000000"]
OTHER_UUIDS = [
    "0F1D2C3B-4A59-4687-9A0B-C1D2E3F40007",
    "0f1d2c3b4a5946879a0bc1d2e3f40007",
    "{0f1d2c3b-4a59-4687-9a0b-c1d2e3f40007}",
    "urn:uuid:0f1d2c3b-4a59-4687-9a0b-c1d2e3f40007",
    "0f1d2c3b-4a59-4687-9a0b-c1d2e3f4000",
    "0f1d2c3-b4a59-4687-9a0b-c1d2e3f40007",
    "0f1d2c3b-4a59-4687-9a0b-c1d2e3f40007\n",
    "0f1d2c3b-4a59-4687-9a0b-c1d2e3f4000\u0667",
    "gf1d2c3b-4a59-4687-9a0b-c1d2e3f40007",
]


@pytest.mark.parametrize("value", [*WORDS, *INTEGERS, *ODD])
def test_without_a_form_any_value_is_taken(value: str) -> None:
    """The policy has not said what ids look like."""
    assert misfit("any", value) is None


@pytest.mark.parametrize("value", [*WORDS, *INTEGERS])
def test_a_word_has_letters_digits_underscores_and_dashes(value: str) -> None:
    """Of ASCII: what some readers fold is no letter here."""
    assert misfit("word", value) is None


@pytest.mark.parametrize("value", INTEGERS)
def test_an_integer_is_plain_digits(value: str) -> None:
    """Each number has one spelling."""
    assert misfit("integer", value) is None


@pytest.mark.parametrize(
    ("form", "value"),
    [
        *(("uuid", value) for value in UUIDS),
        *(("lowercase", value) for value in (*UUIDS, *INTEGERS, "pi_1", "07", "0f1d2c")),
        *(("unpadded", value) for value in (*UUIDS, *INTEGERS, "group/007", "7.0", "0x7", "a07", "", "0.7")),
    ],
)
def test_other_forms_have_one_spelling_too(form: ValueForm, value: str) -> None:
    """Of a UUID and of words that are told by their letters; of a number, where what is none may be anything."""
    assert misfit(form, value) is None


@pytest.mark.parametrize(
    ("form", "value"),
    [
        *(("uuid", value) for value in (*ODD, *WORDS, *OTHER_UUIDS, "")),
        *(("lowercase", value) for value in (*ODD, "C0123456789", OTHER_UUIDS[0], "")),
        *(("unpadded", value) for value in ("07", "00", "007")),
        *(("word", value) for value in (*ODD, "")),
        *(("integer", value) for value in (*ODD, "", "07", "00", "-0", "-7", "1e3", "0x7", "7_0", "pi_1")),
        *(("integer", value) for value in ("9223372036854775808", "18446744073709551623", "1" * 5000)),
    ],
)
def test_anything_else_is_told(form: ValueForm, value: str) -> None:
    """As the end of a sentence that begins with the value's name."""
    why = misfit(form, value)

    assert why is not None
    assert why.startswith(("has more", "is no integer", "is an integer", "is no UUID", "is a number"))
