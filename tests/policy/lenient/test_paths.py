"""When patterns have to be compared as a server does that tells neither case nor a slash at the end apart."""

import pytest

from gateway.core.target import Target, read_target
from gateway.policy.lenient.paths import LenientPaths
from gateway.policy.pattern import Pattern, split_slash
from tests.policy.placing import pattern


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ((), False),
        (("/reports/{id}",), False),
        (("/reports/{id}", "/reports/{id}/parts"), False),
        (("/reports/{id}", "/mails/{id}"), False),
        (("/reports/{id}", "/reports/all"), True),
        (("/reports/{rest...}", "/reports/a/all"), True),
        (("/{kind}/{id}", "/reports/{id}"), True),
        (("/reports/{id}", "/reports/{id}/"), True),
    ],
)
def test_nothing_is_compared_where_no_text_stands_beside_a_placeholder(paths: tuple[str, ...], expected: bool) -> None:
    """As in most policies, which pay nothing for it. Paths with a slash at their end are compared with the others."""
    assert bool(LenientPaths([pattern(path) for path in paths])) is expected


TEXTS = ("/{kind}/{id}", "/admin/{id}", "/{kind}/all", "/{kind}/rest_all", "/files/{rest...}", "/files/a/secret")


@pytest.mark.parametrize(
    ("taker", "path", "expected"),
    [
        ("/{kind}/{id}", "/x/7", False),
        ("/{kind}/{id}", "/ADMIN/7", True),
        ("/{kind}/{id}", "/x/All", True),
        ("/admin/{id}", "/admin/7", False),
        ("/files/{rest...}", "/files/b/c/d", False),
        ("/files/{rest...}", "/files/A/Secret", True),
        ("/files/a/secret", "/files/a/secret", False),
        ("/{kind}/{id}", "/x/rest-all", True),
        ("/{kind}/{id}", "/x/a-b", False),
        ("/{kind}/{id}", "/adm%C4%B1n/7", True),
    ],
)
def test_a_placeholder_whose_value_is_another_patterns_text_is_compared(taker: str, path: str, expected: bool) -> None:
    """Each costs one look-up."""
    target = read_target(path)
    assert isinstance(target, Target)
    own: Pattern = pattern(taker)

    may_be = LenientPaths([pattern(text) for text in TEXTS]).may_be_of_another(own, split_slash(target)[0])

    assert may_be is expected
