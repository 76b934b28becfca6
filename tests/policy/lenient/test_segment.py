"""Which segments of a path some server takes for one."""

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from gateway.policy.lenient.segment import lenient_segment, lenient_segments
from gateway.policy.reading.hidden import hidden_in


@pytest.mark.parametrize(
    "spelled",
    [
        *("publish_all", "PUBLISH_ALL", "publish-all", "publish.all", "publish~all"),
        *("publ\u0131sh_all", "publ\u0130sh-all"),
        *("publishAll", "publish--all", "-publish-all", "publish-all-", "publish+all"),
        *("publ\u00edsh_all", "pub\uff4cish_all", "pu\u0308blish_all"),
        *("publish all", "publish  all", " publish - all", "publish\u00a0all", "publ\u0131sh all", "publish\u3000all"),
    ],
    ids=[
        *("as it is", "capitals", "a dash", "a dot", "another mark", "dotless i", "dotted capital I"),
        *("camel case", "two dashes", "a dash before", "a dash behind", "a plus"),
        *("an accent", "a wide letter", "a mark of its own"),
        *("a blank", "two blanks", "blanks and a dash", "no-break space", "dotless i and a blank", "wide blank"),
    ],
)
def test_case_marks_and_blanks_make_no_other_segment(spelled: str) -> None:
    """Django's `(?i)` knows the Turkish letters, CherryPy's dispatcher makes one mark of all, CakePHP's none; to that a
    blank is one too."""
    assert lenient_segment(spelled) == lenient_segment("publish_all")


@pytest.mark.parametrize("before", ["urn:uuid:", "URN:UUID:", "{"])
def test_a_uuid_may_begin_as_its_name_does(before: str) -> None:
    """Python reads it so."""
    plain = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"

    assert lenient_segment(f"{before}{plain.upper()}") == lenient_segment(plain)
    assert lenient_segment("urn:uuid:") == "urnuuid"


@pytest.mark.parametrize("other", ["publish al", "publish_al", "publish_all7", "all_publish", "_", " ", ""])
def test_letters_and_digits_make_another_segment(other: str) -> None:
    """Those are what is compared."""
    assert lenient_segment(other) != lenient_segment("publish_all")


@pytest.mark.parametrize(
    ("spelled", "text"),
    [
        *(
            (one, "3")
            for one in (
                "3",
                "03",
                "003",
                "0_3",
                "+3",
                "3.0",
                "03.",
                "+3.00",
                "0x3",
                "0X03",
                "0b11",
                "0o3",
                "3e0",
                "30E-1",
                "0.3e0001",
                "3.00000000000000000001",
                "3d",
                "3F",
                "0x1.8p1",
                "\u0663",
                "\uff13",
            )
        ),
        *((one, "0.5") for one in ("0.50", ".5", "00.5", "5e-1", "0.05e1", "+5E-01", ".5d", "0x.8p0")),
        *((one, "true") for one in ("True", "1", "01", "yes", "ON", "t", "y")),
        *((one, "off") for one in ("false", "no", "0", "00", "f", "n", "OFF")),
    ],
)
def test_a_number_or_a_truth_is_one_in_any_spelling(spelled: str, text: str) -> None:
    """FastAPI reads them so, Spring hexadecimal numbers."""
    assert lenient_segment(spelled) == lenient_segment(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3", "30"),
        ("3", "3.1"),
        ("0.5", "5"),
        ("3", "3e1"),
        ("v1", "v1.0"),
        ("true", "false"),
        ("0x", "0"),
        ("0f1d", "f1d"),
        ("on", "one"),
    ],
)
def test_other_numbers_and_truths_are_others(one: str, other: str) -> None:
    """And an id that begins with a zero is no number."""
    assert lenient_segment(one) != lenient_segment(other)


@pytest.mark.parametrize(
    ("spelled", "folded"), [("0" * 5000 + "3", "3"), ("3." + "0" * 5000, "3"), ("9" * 5000, "inf")]
)
def test_a_number_may_have_any_number_of_digits(spelled: str, folded: str) -> None:
    """Of whole numbers none is too large to be told."""
    assert lenient_segment(spelled) == lenient_segment(folded) == folded


@pytest.mark.parametrize("marks", ["-", "_", "*", "--", "~.~", " ", "- -", "\u00a0"])
def test_of_marks_alone_one_is_left(marks: str) -> None:
    """GitLab's `/-/` is a segment, and none that is empty."""
    assert lenient_segment(marks) == lenient_segment("-") != lenient_segment("")


def test_ascii_is_compared_as_all_else_is() -> None:
    """In less time."""
    every = "".join(map(chr, range(128)))

    assert lenient_segment(every) == lenient_segment(f"{every}\u4e00").removesuffix("\u4e00")


def test_each_segment_of_a_path_is_compared_so() -> None:
    """None is left out or put together."""
    assert lenient_segments(("Docs", "a-b", "")) == ("docs", "ab", "")


def by_pydantic(kind: type) -> Callable[[str], object]:
    adapter = TypeAdapter(kind)
    return adapter.validate_python


READ_BY: list[Callable[[str], object]] = [int, float, Decimal, *map(by_pydantic, (int, float, Decimal, bool))]
NAMED = ["3", "0.5", "0", "true", "false", "10", "1000000", "-3", "1e3", "2.50", "yes", "1"]
PIECES = [*"0123456789.eE+-_ xXoObBdDfFlLjn", "\u0663", "\uff13", "\u00a0", "\u2003", "inf", "nan", "true", "yes", "on"]
PIECES += ["t", "y", "\u0131", "\u212a", "\uff0e", "\u2212"]


def read(reads: Callable[[str], object], text: str) -> object:
    """Nothing where it is refused; what is no number is itself never."""
    try:
        value = reads(text)
    except (ValueError, ArithmeticError):
        return None
    return None if value != value else value


@given(
    st.sampled_from(NAMED), st.booleans(), st.lists(st.tuples(st.integers(0, 6), st.sampled_from(PIECES)), max_size=4)
)
@settings(max_examples=500)
@example("3", True, [(0, "0")])
@example("0.5", False, [(0, ".5")])
def test_what_is_read_as_the_same_value_is_the_same_segment(
    named: str, is_kept: bool, pieces: list[tuple[int, str]]
) -> None:
    """By Python's own and by pydantic: another spelling of a closed number or truth is told alike, or has a blank at an
    end, which is refused."""
    text = named if is_kept else ""
    for at, piece in pieces:
        text = text[:at] + piece + text[at:]

    if hidden_in(text) is None and lenient_segment(text) != lenient_segment(named):
        for reads in READ_BY:
            value = read(reads, text)
            assert value is None or (type(value), value) != (type(read(reads, named)), read(reads, named))
