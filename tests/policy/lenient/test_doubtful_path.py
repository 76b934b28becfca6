"""What is refused of a path, when it is known to be a read's, a write's or a rule's."""

from dataclasses import replace

import pytest

from gateway.core.decision import AMBIGUOUS_TARGET, Refused
from gateway.core.format_ending import FormatEndings
from gateway.core.rule import Mount, Origin, Upstream
from gateway.core.target import Target, read_target
from gateway.policy.lenient.doubtful_path import DoubtfulPaths
from tests.policy.placing import pattern

UPSTREAM = Upstream("deep", Origin("http", "127.0.0.1", 1), mount=Mount(("api", "admin")))
DEEPER = [replace(UPSTREAM, reads="deny"), replace(UPSTREAM, mount=Mount(("api", "open")))]
PATTERNS = [pattern("/api/{id}"), pattern("/api/publish"), pattern("/api/{id}/publish"), pattern("/api/{rest...}")]
PATHS = DoubtfulPaths(Mount(("api",), format_endings=FormatEndings(frozenset({"json"}))), DEEPER, PATTERNS, PATTERNS)


def target(path: str) -> Target:
    read = read_target(path)
    assert isinstance(read, Target)
    return read


def told(refused: Refused | None) -> str | None:
    """The beginning of what its sender is told."""
    assert refused is None or refused.decision is AMBIGUOUS_TARGET
    return None if refused is None else refused.detail.removeprefix("Nothing was forwarded: ")


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/api/7", None),
        ("/api/a%20b", None),
        ("/%61pi/7", "a server that compares"),
        ("/api/%252e%252e", "the path has a dot"),
        ("/api/7&_method=DELETE", "what follows `?` or `&`"),
        ("/api/7%26_method=DELETE", "what follows `?` or `&`"),
        ("/api/7%253Fa=1%26rest%5Froute=/x", "what follows `?` or `&`"),
        ("/api/7%23_method=DELETE", None),
        ("/api/7%26method=DELETE", None),
        ("/api/_method=DELETE", None),
    ],
)
def test_of_any_request_its_mount_is_in_no_doubt(path: str, why: str | None) -> None:
    """Nor what a dot segment would make of the path."""
    refused = told(PATHS.of_any(target(path)))

    assert (refused is None) if why is None else str(refused).startswith(why)


@pytest.mark.parametrize(
    ("path", "read", "write"),
    [
        ("/api/7", None, None),
        ("/api/Admin/7", "in another case", "in another case"),
        ("/api/Open/7", None, "in another case"),
        ("/api/index.php/admin/7", "without escapes", "without what servers drop"),
        ("/api/index.php/open/7", None, "without what servers drop"),
        ("/api/admin.json", "without escapes", None),
        ("/api/admin%2F7", "without escapes", "the path has an encoded slash"),
        ("/api/%2561dmin/7", "without escapes", "the path has a `&`"),
        ("/api/7%3Fx", None, "the path has a `&`"),
        ("/api/7&x", None, "the path has a `&`"),
        ("/api/a%20", None, "a segment of the path"),
        ("/api/a+b", None, "the path has a bare `+`"),
        ("/api/a%2Bb", None, None),
        ("/api/adm+in/7", "in another case", "in another case"),
    ],
)
def test_no_request_is_a_deeper_mounts_in_another_spelling(path: str, read: str | None, write: str | None) -> None:
    """Of reads only where that one takes none."""
    for refused, why in ((PATHS.of_read(target(path)), read), (PATHS.of_write(target(path)), write)):
        assert (told(refused) is None) if why is None else str(told(refused)).startswith(why)


@pytest.mark.parametrize(
    ("taker", "path", "why"),
    [
        ("/api/{id}", "/api/7", None),
        ("/api/{id}", "/api/7.json", "the path's last segment ends"),
        ("/api/{id}", "/api/7.xml", None),
        ("/api/publish", "/api/%70ublish", "a server that compares"),
        ("/api/{id}", "/api/7%252Fpublish", "the path has an escaped escape"),
        ("/api/{rest...}", "/api/7/index.php/publish", "to a server that drops a program's name"),
    ],
)
def test_a_rules_path_is_no_other_rules(taker: str, path: str, why: str | None) -> None:
    """To a server that undoes an escape more, or cuts something off."""
    refused = told(PATHS.of_taken("PUT", pattern(taker), target(path)))

    assert (refused is None) if why is None else str(refused).startswith(why)


def test_an_opaque_slash_is_a_character_in_a_segment() -> None:
    """With something on both sides."""
    paths = DoubtfulPaths(Mount(("api",), encoded_slash="opaque"), [], PATTERNS, PATTERNS)

    assert paths.of_write(target("/api/a%2Fb")) is None
    assert str(told(paths.of_write(target("/api/a%2F")))).startswith("an encoded slash")


@pytest.mark.parametrize(
    ("taker", "path", "passes"),
    [
        ("/api/%2F/{queue}", "/api/%2F/q1", True),
        ("/api/{host}/%2F", "/api/a%2Fb/%2F", True),
        ("/api/%2F/%2F", "/api/%2F/%2F", True),
        ("/api/%2F/{queue}", "/api/%2f/q1", False),
        ("/api/%2F/{queue}", "/api/%2F/q1%2F", False),
        ("/api/%2F/{queue}", "/api/%2F%2F/q1", False),
        ("/api/%2F/{queue}", "/api/%2F/%2F", False),
        ("/api/{host}/{queue}", "/api/%2F/q1", False),
        ("/api/{rest...}", "/api/q1/%2F", False),
        ("/api/%2F/{rest...}", "/api/%2F/q1/%2F", False),
    ],
)
def test_a_slash_of_its_own_is_text_or_nothing(taker: str, path: str, passes: bool) -> None:
    """RabbitMQ's first virtual host is called so; to what reads an id there, none is left of it."""
    paths = DoubtfulPaths(Mount(("api",), encoded_slash="opaque"), [], PATTERNS, PATTERNS)
    read = target(path)

    refused = paths.of_write(read) or paths.of_taken("PUT", pattern(taker), read)

    assert (refused is None) is passes


def test_a_mount_that_refuses_slashes_refuses_those_too() -> None:
    """Whatever a pattern names."""
    refused = told(DoubtfulPaths(Mount(("api",)), [], PATTERNS, PATTERNS).of_write(target("/api/%2F/q1")))

    assert "`encoded_slash: opaque`" in str(refused)
