"""What a pattern says of the values."""

import pytest

from gateway.policy.openapi.value_pattern import PatternKind, pattern_kind


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        (r"^\d+$", "integer"),
        ("^[0-9]+$", "integer"),
        (r"[1-9][0-9]*", "integer"),
        (r"\d+", "integer"),
        (r"^(0|[1-9]\d*)$", "integer"),
        (r"0|[1-9]\d*", "integer"),
        (r"^(?:\d{1,10})$", "integer"),
        (r"^[1-9]\d{4}$", "integer"),
        (r"^[\d]+$", "integer"),
        (r"^-?\d+$", "signed"),
        (r"^-?\d{0,6}(?:\.\d{0,2})?$", "number"),
        (r"^\d+[.]\d+$", "number"),
        (r"^\d{5}$", "lowercase"),
        (r"^\d{4}-\d{2}-\d{2}$", "lowercase"),
        ("^0$", "integer"),
        ("^[a-z]+$", "lowercase"),
        ("^[a-z0-9]([-a-z0-9]*)$", None),
        ("^[0-9a-f]{24}$", "lowercase"),
        ("^[0-9a-fA-F]{24}$", "hexadecimal"),
        ("^[0-9A-HJKMNP-TV-Z]{26}$", "uppercase"),
        ("^[-a-zA-Z0-9_]+$", "word"),
        (r"^\w+$", "word"),
        (r"^[\w-]{1,64}$", "word"),
        ("^cus_[A-Za-z0-9]+$", "word"),
        ("^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$", "uuid"),
        ("^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$", "uuid"),
        ("^(me|[0-9]+)$", "mixed"),
        (r"^([a-z]+|\d+)$", "mixed"),
        ("^(me|[^/]+)$", None),
    ],
)
def test_a_plain_pattern_gives_a_form(pattern: str, kind: PatternKind | None) -> None:
    """Of a fixed length zeros in front belong to the value."""
    assert pattern_kind(pattern) == kind


@pytest.mark.parametrize(
    "pattern",
    [
        "",
        "^$",
        "^[^/]+$",
        ".*",
        "[a-z]+",
        r"^\d+",
        r"\d+$",
        r"^\d+\$",
        r"^\d{2,}$",
        r"^[a-z]+|\d+$",
        r"^\D+$",
        r"^\p{L}+$",
        "^[a-zé]+$",
        "^[a-z.]+$",
        "^-?[a-z]+$",
        r"^\d+?$",
        "^(a",
        "^[a-z$",
        "a" * 300,
        "^" + "[0-9]" * 60 + "$",
    ],
)
def test_another_pattern_says_nothing(pattern: str) -> None:
    """Also one that may stand for a part of the value, but for digits alone."""
    assert pattern_kind(pattern) is None
