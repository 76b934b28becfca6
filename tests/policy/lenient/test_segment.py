"""Which segments of a path some server takes for one."""

import pytest

from gateway.policy.lenient.segment import lenient_segment, lenient_segments


@pytest.mark.parametrize(
    "spelled",
    [
        *("publish_all", "PUBLISH_ALL", "publish-all", "publish.all", "publish~all"),
        *("publ\u0131sh_all", "publ\u0130sh-all"),
        *("publishAll", "publish--all", "-publish-all", "publish-all-", "publish+all"),
        *("publish all", "publish  all", " publish - all", "publish\u00a0all", "publ\u0131sh all", "publish\u3000all"),
    ],
    ids=[
        *("as it is", "capitals", "a dash", "a dot", "another mark", "dotless i", "dotted capital I"),
        *("camel case", "two dashes", "a dash before", "a dash behind", "a plus"),
        *("a blank", "two blanks", "blanks and a dash", "no-break space", "dotless i and a blank", "wide blank"),
    ],
)
def test_case_marks_and_blanks_make_no_other_segment(spelled: str) -> None:
    """Django's `(?i)` knows the Turkish letters, CherryPy's dispatcher makes one mark of all, CakePHP's none; to that a
    blank is one too."""
    assert lenient_segment(spelled) == lenient_segment("publish_all")


@pytest.mark.parametrize("other", ["publish al", "publish_al", "publish_all7", "all_publish", "_", " ", ""])
def test_letters_and_digits_make_another_segment(other: str) -> None:
    """Those are what is compared."""
    assert lenient_segment(other) != lenient_segment("publish_all")


@pytest.mark.parametrize("marks", ["-", "_", "*", "--", "~.~", " ", "- -", "\u00a0"])
def test_of_marks_alone_one_is_left(marks: str) -> None:
    """GitLab's `/-/` is a segment, and none that is empty."""
    assert lenient_segment(marks) == lenient_segment("-") != lenient_segment("")


def test_ascii_is_compared_as_all_else_is() -> None:
    """In less time."""
    every = "".join(map(chr, range(128)))

    assert lenient_segment(every) == lenient_segment(f"{every}\u00e9").removesuffix("\u00e9")


def test_each_segment_of_a_path_is_compared_so() -> None:
    """None is left out or put together."""
    assert lenient_segments(("Docs", "a-b", "")) == ("docs", "ab", "")
