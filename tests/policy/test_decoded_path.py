"""A path is read as the most lenient server on the way to the API may read it."""

import pytest

from gateway.core.target import Target, read_target
from gateway.policy.decoded_path import decoded_segments


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
    ],
)
def test_every_escape_is_undone(path: str, segments: tuple[str, ...]) -> None:
    """However often it was escaped; encoded slashes and backslashes part segments."""
    target = read_target(path)
    assert isinstance(target, Target)

    assert decoded_segments(target) == segments


def test_it_takes_no_more_than_eight_rounds() -> None:
    """A path of escapes of escapes takes time in proportion to its length."""
    target = read_target("/" + "%25" * 2000 + "2Fa")
    assert isinstance(target, Target)

    assert decoded_segments(target)
