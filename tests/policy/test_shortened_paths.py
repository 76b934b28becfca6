"""A path that is another rule's to a server that drops a program's name or a session from it."""

import pytest

from gateway.core.target import Target, read_target
from gateway.policy.shortened_paths import ShortenedPaths
from tests.policy.placing import pattern

PATHS = (
    *("/{rest...}", "/docs/{id}", "/docs/publish_all", "/docs/{id}/{part}", "/docs/{rest...}"),
    *("/files/{name}", "/files/{name}/lock", "/old/index.php/{id}", "/old/{id}", "/"),
)
PATTERNS = ShortenedPaths([*map(pattern, PATHS), pattern("/docs", "POST"), pattern("/docs/{id}", "POST")])


@pytest.mark.parametrize(
    ("method", "taker", "path", "astray"),
    [
        ("PUT", "/{rest...}", "/index.php/docs/7", True),
        ("PUT", "/{rest...}", "/INDEX%2EPHP/Docs/7/", True),
        ("PUT", "/{rest...}", "/(S(x))/docs/7", True),
        ("PUT", "/{rest...}", "/docs.php/7", True),
        ("PUT", "/{rest...}", "/index.php", True),
        ("PUT", "/{rest...}", "/index.php/other/7", False),
        ("PUT", "/{rest...}", "/src/index.php", False),
        ("PUT", "/{rest...}", "/other/7.0", False),
        ("PUT", "/docs/{id}", "/docs/publish-all.php", True),
        ("PUT", "/docs/{id}", "/docs/7.php", False),
        ("PUT", "/docs/{id}", "/docs/index.php", False),
        ("POST", "/docs/{id}", "/docs/index.php", True),
        ("POST", "/docs/{id}", "/docs/main.php", False),
        ("PUT", "/docs/{id}/{part}", "/docs/index.php/7", True),
        ("PUT", "/docs/{id}/{part}", "/docs/index.php/publish_all", True),
        ("PUT", "/docs/{rest...}", "/docs/index.php/7", True),
        ("PUT", "/files/{name}/lock", "/files/index.php/lock", False),
        ("PUT", "/old/index.php/{id}", "/old/index.php/7", False),
        ("PUT", "/docs/{id}", "/docs/7", False),
    ],
)
def test_what_is_left_is_another_rules(method: str, taker: str, path: str, astray: bool) -> None:
    """Of the request's own method, and no less exactly than the rule that takes it: a file may be called `index.php`.
    What is left of a path under the rule that takes it is another value of it, as any ending is."""
    target = read_target(path)
    assert isinstance(target, Target)

    assert PATTERNS.lead_astray(method, pattern(taker, method), target) is astray
