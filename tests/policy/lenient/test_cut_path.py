"""A path is read as a server reads it that sees a query begin in it."""

import pytest

from gateway.core.target import Target, read_target
from gateway.policy.lenient.cut_path import cut_target, is_cut, readings_where_cut, target_before_blank


@pytest.mark.parametrize(
    ("raw", "segments", "query"),
    [
        ("/docs/7%3Fx", ("docs", "7"), "x="),
        ("/docs/7%3fx=1%26y", ("docs", "7"), "x=1&y="),
        ("/docs/7&x=1", ("docs", "7"), "x=1"),
        ("/docs/7%23x=1", ("docs", "7"), None),
        ("/docs/7%26x=1%23y", ("docs", "7"), "x=1"),
        ("/docs/7%26x=1?y=2", ("docs", "7"), "x=1&y=2"),
        ("/docs/7%253Fx=a%25252Bb", ("docs", "7"), "x=a%2Bb"),
        ("/docs/7%26x=1%253By=a=b", ("docs", "7"), "x=1&y=a%3Db"),
        ("/docs/7/%3Fx", ("docs", "7", ""), "x="),
        ("/docs%2F7%26", ("docs", "7"), None),
        ("/docs/x/%252E%252E%253Fx", ("docs",), "x="),
        ("/%3F", ("",), None),
        ("/docs/7%3F?y=2", ("docs", "7"), "y=2"),
    ],
)
def test_a_path_is_cut_at_its_first_mark(raw: str, segments: tuple[str, ...], query: str | None) -> None:
    """What follows comes before the query's own parameters; what follows `#` is nobody's."""
    target = read_target(raw)
    assert isinstance(target, Target)

    cut = cut_target(target)

    assert cut is not None
    assert (cut.raw, cut.segments, cut.query) == (raw, segments, query)


@pytest.mark.parametrize("raw", ["/docs/7", "/docs/7?x&y", "/docs/a%2Bb%2F", "/docs/100%25"])
def test_a_path_without_one_is_not_cut(raw: str) -> None:
    """An escaped percent sign may hide one, and need not."""
    target = read_target(raw)
    assert isinstance(target, Target)

    assert cut_target(target) is None
    assert readings_where_cut(target) == ()


@pytest.mark.parametrize(
    ("raw", "readings"),
    [
        ("/docs/7%26x/y", [("docs/7", "x%2Fy="), ("docs/7&x/y", "x%2Fy=")]),
        ("/docs/7%23x?y", [("docs/7", "y")]),
        ("/docs/7%20x?y", [("docs/7", None)]),
        ("/docs/7%26x%20y", [("docs/7", "x%20y="), ("docs/7&x y", "x%20y="), ("docs/7", "x=")]),
    ],
)
def test_parameters_may_come_beside_the_whole_path(raw: str, readings: list[tuple[str, str]]) -> None:
    """PHP's frameworks take the path from the request, and `$_GET` from where nginx sent it."""
    target = read_target(raw)
    assert isinstance(target, Target)

    assert [("/".join(one.segments), one.query) for one in readings_where_cut(target)] == readings


@pytest.mark.parametrize(
    ("raw", "segments", "query"),
    [
        ("/docs/7%20HTTP/1.0", ("docs", "7"), None),
        ("/docs/7%20HTTP/1.0?x=1", ("docs", "7"), None),
        ("/docs/7%2520x", ("docs", "7"), None),
        ("/docs/7%3Fx=1%20HTTP/1.0?y=2", ("docs", "7"), "x=1"),
        ("/docs/7%20x%3Fy", ("docs", "7"), None),
        ("/docs/%20x", ("docs", ""), None),
        ("/a%20b/c%20d", ("a",), None),
    ],
)
def test_a_path_ends_at_its_first_blank(raw: str, segments: tuple[str, ...], query: str | None) -> None:
    """The request's own query stands behind it. A name may have a blank: by itself it is no delimiter."""
    target = read_target(raw)
    assert isinstance(target, Target)

    before = target_before_blank(target)

    assert before is not None
    assert (before.raw, before.segments, before.query) == (raw, segments, query)
    assert is_cut(target) is ("%3F" in raw or "%25" in raw)
