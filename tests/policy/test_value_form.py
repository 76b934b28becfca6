"""The spellings of ids."""

from base64 import b64decode, b64encode
from string import ascii_lowercase, ascii_uppercase, digits
from typing import get_args

import pytest

from gateway.policy.value_form import NamedForm, ValueForm, misfit

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
    "a+b",
    "a%40b",
    "cafe\u0301",
    "RG9jOjc=",
    "2001:DB8::1",
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


BASE64 = ["RG9jOjc=", "RG9jOjEyMzQ1Ng==", "RG9j", "QQ==", "QUE=", "////", "+/+/", "gid0", "Pj4/Pj8/"]
BASE64URL = ["RG9jOjc", "RG9jOjEyMzQ1Ng", "RG9j", "QQ", "QUE", "____", "-_-_", "gid0", "Pj4_Pj8_", "-_-_QQ"]
OTHER_BASE64 = [
    *("RG9jOjd=", "RG9jOje=", "RG9jOjd", "RG9j-Ojc=", "RG9j!Ojc=", "RG9jOjc==", "RG9jOjE9=", "RG9j=", "RG9jO", "QR=="),
    *("QR", "QQ=", "QUF=", "Pj4_Pj8/", "+_AA", "=", "==", "====", "RG9jOjc=\n", "RG9j Ojc=", "RG9j\nOjc=", " RG9j", ""),
    *("RG9jOjc=RG9j", "RG9jOjc%3D", "\u0420G9j", "RG9jOjc= "),
]
ULIDS = ["01ARZ3NDEKTSV4RRFFQ69G5FAV", "01BX5ZZKBKACTAV9WEVGEMMVRZ"]


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
        ("date", "2026-01-05"),
        *(("uuid", value) for value in UUIDS),
        *(("lowercase", value) for value in (*UUIDS, *INTEGERS, "pi_1", "07", "0f1d2c")),
        *(("ulid", value) for value in ULIDS),
        *(("uppercase", value) for value in (*ULIDS, *INTEGERS, "C0123456789", "PI_1", "A-7", "07", "_", "-")),
        *(("base64", value) for value in BASE64),
        *(("base64url", value) for value in BASE64URL),
        *((frozenset(("red", "blue")), value) for value in ("red", "blue")),
        *(("unpadded", value) for value in (*UUIDS, *INTEGERS, "group/007", "a07", "", "7d", "v7.0", "0xg")),
    ],
)
def test_other_forms_have_one_spelling_too(form: ValueForm, value: str) -> None:
    """Of a UUID and of words that are told by their letters; of bytes, with padding or without; of a number, where what
    is none may be anything."""
    assert misfit(form, value) is None


@pytest.mark.parametrize(
    ("form", "value"),
    [
        *(("date", value) for value in (*ODD, "20260105", "1767571200", "2026-1-5", "2026-01-05T00", "2026-W02-1")),
        *(("uuid", value) for value in (*ODD, *WORDS, *OTHER_UUIDS, "")),
        *(("lowercase", value) for value in (*ODD, "C0123456789", OTHER_UUIDS[0], "")),
        *(("ulid", value) for value in (*ODD, ULIDS[0].lower(), ULIDS[0].replace("0", "O"), "8" + ULIDS[0][1:], "07")),
        *(("ulid", ULIDS[0].replace("1", one)) for one in "IL"),
        *(("uppercase", value) for value in (*ODD, "pi_1", ULIDS[0].lower(), f"{ULIDS[0]}\n", "A B", "\u212a", "")),
        *((form, value) for value in OTHER_BASE64 for form in ("base64", "base64url")),
        *(("base64", value) for value in BASE64URL if value not in BASE64),
        *(("base64url", value) for value in BASE64 if value not in BASE64URL),
        *(
            ("unpadded", value)
            for value in ("07", "00", "007", "7.0", "0.7", "1_0", "1e1", "-7", "+7", "7.", "0x7", "0B1")
        ),
        *(("word", value) for value in (*ODD, "")),
        *(("integer", value) for value in (*ODD, "", "07", "00", "-0", "-7", "1e3", "0x7", "7_0", "pi_1")),
        *((frozenset(("red", "blue")), value) for value in ("RED", "green", "0", "red ", "", "r")),
        *(("integer", value) for value in ("9223372036854775808", "18446744073709551623", "1" * 5000)),
    ],
)
def test_anything_else_is_told(form: ValueForm, value: str) -> None:
    """As the end of a sentence that begins with the value's name."""
    why = misfit(form, value)

    assert why is not None
    assert why.startswith(
        (
            "has more",
            "is no integer",
            "is an integer",
            "is no date",
            "is no UUID",
            "is a number",
            "is no base64",
            "is no ULID",
            "is none",
        )
    )


def _url(text: str) -> str:
    return text.replace("+", "-").replace("/", "_")


@pytest.mark.parametrize("size", range(1, 9))
def test_bytes_are_spelled_once(size: int) -> None:
    """Whatever stands in the bits of the last character that nobody reads, and however it is padded."""
    padded = b64encode(bytes(range(250, 250 - size, -1))).decode()
    plain = padded.rstrip("=")
    lasts = f"{ascii_uppercase}{ascii_lowercase}{digits}+/"
    spelled = [f"{plain[:-1]}{last}{'=' * count}" for last in lasts for count in range(4)]
    alike = [one for one in spelled if b64decode(f"{one}===") == b64decode(padded)]

    assert [one for one in alike if misfit("base64", one) is None] == [padded]
    assert [one for one in map(_url, alike) if misfit("base64url", one) is None] == [_url(plain)]


def test_every_form_that_has_a_name_is_known() -> None:
    assert {form for form in get_args(NamedForm) if misfit(form, "~") is None} == {"any", "unreserved", "unpadded"}
