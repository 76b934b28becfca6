"""Queries from which a server takes its path."""

import pytest

from gateway.core.rule import Mount
from gateway.core.target import Target, read_target
from gateway.policy.lenient.path_in_query import has_path_in_query


@pytest.mark.parametrize(
    ("target", "is_path"),
    [
        ("/?/docs", True),
        ("/?/docs&x=1", True),
        ("/?/docs?x=1", True),
        ("/?%2Fdocs", True),
        ("/?%2fdocs", True),
        ("/?&/docs", True),
        ("/??/docs", True),
        ("/api?/docs", True),
        ("/api/?/docs", True),
        ("/api/index.php?/docs", True),
        ("/api/v2/index.php?/docs", True),
        ("/api/Index.PHP/?/docs", True),
        ("/api/%69ndex.php?/docs", True),
        ("/api/front.php?/docs", True),
        ("/api/index?/docs", True),
        ("/api/docs?/docs", False),
        ("/api", False),
        ("/api?", False),
        ("/api?docs", False),
        ("/api?next=/docs", False),
        ("/api?next&/docs", False),
        ("/api/index.php?next=/docs", False),
    ],
)
def test_a_query_is_the_path_where_that_is_empty_or_a_program(target: str, is_path: bool) -> None:
    """A mount's root is empty to the API. Only the first name can be one: `?/publish` at a path of its own is an action
    of SvelteKit's, and is its rule's."""
    read = read_target(target)
    assert isinstance(read, Target)

    assert has_path_in_query(read, Mount(("api",))) is is_path
