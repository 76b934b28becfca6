"""Which pattern a lenient server finds first."""

import pytest

from gateway.policy.lenient.patterns import LenientPatterns
from tests.policy.placing import pattern

PATHS = ("/m/{id}", "/m/{id}/publish_all", "/f/{path...}", "/f/{a}/secret", "/Lists/{id}", "/lists/{id}", "/end/")


@pytest.mark.parametrize("at_once", [1, 2, 100])
@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("m/7", "/m/{id}"),
        ("M/7/Publish-All", "/m/{id}/publish_all"),
        ("f/a/secret", "/f/{a}/secret"),
        ("f/a/secrets", "/f/{path...}"),
        ("LISTS/7", "/lists/{id}"),
        ("end", "/end/"),
        ("m", None),
        ("x/7", None),
    ],
)
def test_the_more_specific_one_takes_a_path(at_once: int, path: str, found: str | None) -> None:
    """In whatever batch it is, and whatever the case, the marks and a slash at the end."""
    patterns = LenientPatterns(map(pattern, reversed(PATHS)), at_once=at_once)

    first = patterns.first(tuple(path.split("/")))

    assert (None if first is None else first.shape) == (None if found is None else pattern(found).lenient.shape)
