"""A path is read as the most lenient server on the way to the API may read it."""

import pytest

from gateway.core.target import Target, read_target
from gateway.policy.lenient.decoded_path import decoded_segments, hides_dots, plain_and_decoded


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("/", ()),
        ("/api/admin", ("api", "admin")),
        ("/api/admin/", ("api", "admin")),
        ("/api/admin%2Fpurge", ("api", "admin", "purge")),
        ("/api/admin%2fpurge", ("api", "admin", "purge")),
        ("/api%252Fadmin", ("api", "admin")),
        ("/api/admin%25252Fpurge", ("api", "admin", "purge")),
        ("/api/admin%255Cpurge", ("api", "admin", "purge")),
        ("/api/%2561dmin", ("api", "admin")),
        ("/api/x%252F..%252Fadmin", ("api", "admin")),
        ("/api/%252E%252E/admin", ("admin",)),
        ("/api/%252E/admin", ("api", "admin")),
        ("/api/a%2F%2Fb", ("api", "a", "b")),
        ("/api/100%25", ("api", "100%")),
        ("/%25%2566", ("%f",)),
        ("/api/admin%20", ("api", "admin")),
        ("/api/admin%2520x", ("api", "admin x")),
        ("/api/admin%253Bx/7", ("api", "admin", "7")),
        ("/api/x/%252E%252E%253B/admin", ("api", "admin")),
        ("/api/admin%2500.json", ("api", "admin")),
        ("/api/%253Bx/admin", ("api", "admin")),
    ],
)
def test_every_escape_is_undone(path: str, segments: tuple[str, ...]) -> None:
    """However often it was escaped; encoded slashes and backslashes part segments, and nothing is left at their ends
    that servers drop."""
    target = read_target(path)
    assert isinstance(target, Target)

    assert decoded_segments(target) == segments


def test_it_takes_no_more_than_eight_rounds() -> None:
    """A path of escapes of escapes takes time in proportion to its length."""
    target = read_target("/" + "%25" * 2000 + "2Fa")
    assert isinstance(target, Target)

    assert decoded_segments(target)


@pytest.mark.parametrize(
    ("path", "segments"),
    [
        ("/api/admin%2Fpurge", ("api", "admin/purge")),
        ("/api/admin%252Fpurge", ("api", "admin/purge")),
        ("/api/admin%255Cpurge", ("api", "admin", "purge")),
        ("/api/%252E%252E/admin", ("admin",)),
        ("/api/%2561%252Fb/", ("api", "a/b")),
    ],
)
def test_an_opaque_slash_is_a_character(path: str, segments: tuple[str, ...]) -> None:
    """All else is undone likewise."""
    target = read_target(path)
    assert isinstance(target, Target)

    assert decoded_segments(target, opaque_slash=True) == segments


@pytest.mark.parametrize(
    ("path", "hidden"),
    [
        ("/a/100%25", False),
        ("/a/7.%252E.8", False),
        ("/a/x%252Fy", False),
        ("/a/%252E%252E/b", True),
        ("/a/%252e", True),
        ("/a/x%252F..%252Fy", True),
        ("/a/%25252E.%255Cy", True),
        ("/a/..%253B", True),
        ("/a/..%2500", True),
    ],
)
def test_dots_behind_an_escaped_escape_are_found(path: str, hidden: bool) -> None:
    """Whatever slash they stand beside."""
    target = read_target(path)
    assert isinstance(target, Target)

    assert hides_dots(target) is hidden


@pytest.mark.parametrize(
    ("path", "ways"),
    [("/a/b/", [("a", "b")]), ("/a%2Fb", [("a/b",), ("a", "b")]), ("/", [()])],
)
def test_a_path_without_escapes_is_read_in_one_way(path: str, ways: list[tuple[str, ...]]) -> None:
    """A slash at its end makes no segment."""
    target = read_target(path)
    assert isinstance(target, Target)

    assert list(plain_and_decoded(target)) == ways
