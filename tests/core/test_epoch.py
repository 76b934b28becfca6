"""The grammar of epochs and of the other exact counters."""

import pytest

from gateway.core.epoch import HIGHEST, parse_u64


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("1", 1),
        ("42", 42),
        ("9007199254740993", 9007199254740993),
        ("9223372036854775808", 1 << 63),
        ("18446744073709551615", HIGHEST),
    ],
    ids=["zero", "one", "two digits", "past 2^53", "past 2^63", "the largest"],
)
def test_digits_are_read_exactly(text: str, value: int) -> None:
    """Every unsigned 64-bit integer is read without a loss."""
    assert parse_u64(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        " 5",
        "5 ",
        "5\n",
        "+5",
        "-1",
        "-0",
        "007",
        "00",
        "1_0",
        "0x10",
        "1e3",
        "5.0",
        "5;",
        "nan",
        "inf",
        "\u0665",
        "\uff15",
        "\xb2",
        "18446744073709551616",
        "99999999999999999999",
        "100000000000000000000",
        "9" * 5_000,
    ],
)
def test_nothing_else_is_a_number(text: str) -> None:
    """No sign, blank, leading zero, other base, other script, and nothing past 2^64-1."""
    assert parse_u64(text) is None
