"""Which segments of a path some server takes for one."""

import pytest

from gateway.policy.lenient_segment import lenient_segment, lenient_segments


@pytest.mark.parametrize(
    "spelled",
    ["publish_all", "PUBLISH_ALL", "publish-all", "publish.all", "publish~all", "publ\u0131sh_all", "publ\u0130sh-all"],
    ids=["as it is", "capitals", "a dash", "a dot", "another mark", "dotless i", "dotted capital I"],
)
def test_case_and_marks_make_no_other_segment(spelled: str) -> None:
    """Django's `(?i)` knows the Turkish letters, CherryPy's dispatcher makes one mark of all."""
    assert lenient_segment(spelled) == lenient_segment("publish_all")


@pytest.mark.parametrize("other", ["publishall", "publish__all", "publish all", "publish_al", "publish_all-", ""])
def test_a_mark_is_none_of_another_length_and_no_letter(other: str) -> None:
    """Each is one character to those servers."""
    assert lenient_segment(other) != lenient_segment("publish_all")


def test_ascii_is_compared_as_all_else_is() -> None:
    """In less time."""
    every = "".join(map(chr, range(128)))

    assert lenient_segment(every) == lenient_segment(f"{every}\u00e9").removesuffix("\u00e9")


def test_each_segment_of_a_path_is_compared_so() -> None:
    """None is left out or put together."""
    assert lenient_segments(("Docs", "a-b", "")) == ("docs", "a_b", "")
