"""What servers leave of a path, without a program's name, its ending, or a session, and whose path that is."""

import pytest

from gateway.core.target import Target, read_target
from gateway.policy.lenient.shortened_path import ShortenedPaths, hides_session, may_be_shortened, shortened
from tests.policy.placing import pattern

PATHS = (
    *("/{rest...}", "/docs/{id}", "/docs/publish_all", "/docs/{id}/{part}", "/docs/{rest...}"),
    *("/files/{name}", "/files/{name}/lock", "/old/index.php/{id}", "/old/{id}", "/"),
)
PATTERNS = ShortenedPaths([*map(pattern, PATHS), pattern("/docs", "POST"), pattern("/docs/{id}", "POST")])


@pytest.mark.parametrize(
    ("path", "left"),
    [
        ("index.php/admin/7", {"admin/7", "index/admin/7"}),
        ("app/index.PHP/admin", {"app/admin", "app/index/admin"}),
        ("admin.php/purge", {"purge", "admin/purge"}),
        ("docs/publish.aspx", {"docs/publish"}),
        ("docs/index.php", {"docs", "docs/index"}),
        ("docs/Default.aspx", {"docs", "docs/Default"}),
        ("(S(abc))/admin", {"admin"}),
        ("x/(A(1)F(2)S(3))/admin", {"x/admin"}),
        ("(lit3py55t21z5v55vlm25s55)/admin", {"admin"}),
        ("(S(x))", {""}),
        ("(S(x))/index.php/admin", {"index.php/admin", "admin", "index/admin"}),
        ("a.cgi/b.pl/c", {"b.pl/c", "a/b.pl/c", "c", "a/b/c"}),
        (".php/x", {"x"}),
        ("a.phtml/x", {"x", "a/x"}),
        ("a.wsgi/x", {"x", "a/x"}),
        ("a.cfm/x", {"x", "a/x"}),
        ("a.php./x", {"x", "a/x"}),
        *((f"a.{end}/x", {"x", "a/x"}) for end in ("phar", "action", "do", "jsf", "faces", "jsp")),
        *((path, set()) for path in ("docs/7", "docs/7.json", "docs/7.0", "a.phps/x", "php/x", "index.php7x/y")),
        *((path, set()) for path in ("f(x)/y", "(x)/y", "(S(x)/y", "(S(x))z/y", "S(x)/y", "(7)/y", "")),
    ],
)
def test_what_is_left_of_a_path(path: str, left: set[str]) -> None:
    """PHP, CGI, ASP.NET and ColdFusion hand what follows to the program; nothing else is cut off here."""
    assert {"/".join(way.segments) for way in shortened(tuple(path.split("/")))} == left


@pytest.mark.parametrize(
    ("path", "hides"),
    [
        ("/ad/(S(x))min/purge", True),
        ("/admin(A(1)F(2))/7", True),
        ("/ad%28s%28x%29%29min", True),
        ("/(S(x))/admin", False),
        ("/f(x)/y", False),
        ("/f(g(x))", False),
        ("/docs/7", False),
    ],
)
def test_a_session_within_a_segment_is_found(path: str, hides: bool) -> None:
    """Older ASP.NET joins what stands beside it."""
    target = read_target(path)

    assert isinstance(target, Target) and hides_session(target) is hides


def test_what_is_left_is_told_with_its_places() -> None:
    """So that it is compared with what took it there."""
    ways = {"/".join(way.segments): way.places for way in shortened(("a", "index.php", "b"))}

    assert ways == {"a/b": (0, 2), "a/index/b": (0, 1, 2)}


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        ((None, None), {"x", "a/x"}),
        (("a.php", None), set()),
        ((), {"x", "a/x"}),
    ],
    ids=["a placeholder", "its own text", "nothing"],
)
def test_a_rules_own_text_is_meant_as_it_is(texts: tuple[str | None, ...], left: set[str]) -> None:
    """The policy itself says that the program is there."""
    assert {"/".join(way.segments) for way in shortened(("a.php", "x"), texts)} == left


@pytest.mark.parametrize(
    ("path", "may"), [("/docs/7.0", False), ("/a(b)", False), ("/a.PHP", True), ("/(S(x))/y", True), ("/%2E", True)]
)
def test_most_paths_are_told_by_a_glance(path: str, may: bool) -> None:
    """They have neither such an ending nor a bracket before a segment, and no escape that could hide one."""
    assert may_be_shortened(path) is may


def test_a_path_of_many_programs_is_read_in_four_ways_at_most() -> None:
    """However long it is, it costs as much as it has segments."""
    assert len(shortened(("a.php",) * 1000 + ("x",))) == 4


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
