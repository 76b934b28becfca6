"""A path with an escaped escape that is another rule's once both are undone."""

import pytest

from gateway.core.target import Target, read_target
from gateway.policy.lenient.escaped_twice import EscapedTwice
from tests.policy.placing import pattern

PATHS = ("/m/{id}", "/m/{id}/publish", "/m/all", "/f/{path...}", "/f/{a}/secret", "/Lists/{id}/all", "/lists/{id}/all")


def target(path: str) -> Target:
    read = read_target(path)
    assert isinstance(read, Target)
    return read


@pytest.mark.parametrize(
    ("taker", "path", "opaque", "astray"),
    [
        ("/m/{id}", "/m/7", False, False),
        ("/m/{id}", "/m/100%25", False, False),
        ("/m/{id}", "/m/%2537", False, False),
        ("/m/{id}", "/m/a%252Fb", False, False),
        ("/m/{id}", "/m/7%252Fpublish", False, True),
        ("/m/{id}", "/m/7%25252fpublish", False, True),
        ("/m/{id}", "/m/7%255Cpublish", False, True),
        ("/m/{id}", "/m/7%252FPUBLISH%252F", False, True),
        ("/m/{id}", "/m/7%252F%252Fpublish", False, True),
        ("/m/{id}", "/m/7%252F%2570ublish%253Bx", False, True),
        ("/m/{id}", "/m/7%252Fpublish%2520", False, True),
        ("/m/{id}", "/m/7%252Fpublish%2500x", False, True),
        ("/m/{id}", "/m/%2561ll", False, True),
        ("/m/{id}", "/m/all%253Bx", False, True),
        ("/m/{id}", "/m/7%252Fpublish", True, False),
        ("/m/{id}", "/m/7%255Cpublish", True, True),
        ("/m/{id}", "/m/%2561ll", True, True),
        ("/m/{id}/publish", "/m/%2537/publish", False, False),
        ("/f/{path...}", "/f/a%252Fb/c", False, False),
        ("/f/{path...}", "/f/a%252Fsecret", False, True),
        ("/lists/{id}/all", "/lists/%2537/all", False, False),
    ],
)
def test_it_is_told_by_the_pattern_that_takes_what_comes_of_it(
    taker: str, path: str, opaque: bool, astray: bool
) -> None:
    """The same pattern's path is one all the same, and no pattern's is nobody's; of those that differ in case alone the
    policy itself says which is which."""
    patterns = EscapedTwice(map(pattern, PATHS), opaque_slash=opaque)

    assert patterns.leads_astray(pattern(taker), target(path)) is astray


def test_the_method_makes_no_difference() -> None:
    """What it would be is refused to this method, or has another meaning."""
    patterns = EscapedTwice([pattern("/m/{id}"), pattern("/m/{id}/publish", "POST")], opaque_slash=False)

    assert patterns.leads_astray(pattern("/m/{id}"), target("/m/7%252Fpublish"))
