"""Where an answer leads, as agents know it."""

import pytest

from gateway.core.rule import Mount, Origin, Upstream
from gateway.upstream.location import as_agents_know

ORIGIN = Origin("http", "api.internal", 8443)
STRIPPED = Mount(("notes",), strip=True)
KEPT = Mount(("notes",))


def mapped(value: str, mount: Mount, base: str = "", origin: Origin = ORIGIN, name: str = "Location") -> str:
    upstream = Upstream("notes", origin, base, mount)
    [(same, told)] = as_agents_know(((name.encode(), value.encode()),), upstream)
    assert same == name.encode()
    return told.decode()


@pytest.mark.parametrize(
    ("value", "mount", "base", "told"),
    [
        ("/7", STRIPPED, "", "/notes/7"),
        ("/7?x=/y#z", STRIPPED, "", "/notes/7?x=/y#z"),
        ("/notes/7", STRIPPED, "", "/notes/notes/7"),
        ("http://api.internal:8443/7", STRIPPED, "", "/notes/7"),
        ("HTTP://API.internal:8443/7", STRIPPED, "", "/notes/7"),
        ("//api.internal:8443/7", STRIPPED, "", "/notes/7"),
        ("http://api.internal:8443", STRIPPED, "", "/notes"),
        ("/api/7", STRIPPED, "/api", "/notes/7"),
        ("/api", STRIPPED, "/api", "/notes"),
        ("/api?x", STRIPPED, "/api", "/notes?x"),
        ("http://api.internal:8443/notes/7", KEPT, "", "/notes/7"),
        ("http://api.internal:8443/v1/notes/7", KEPT, "/v1", "/notes/7"),
        ("/v1/notes/7", KEPT, "/v1", "/notes/7"),
        ("/v1", KEPT, "/v1", "/"),
        ("/v1/a?b=\\c/../d", KEPT, "/v1", "/a?b=\\c/../d"),
        ("/v1/.well-known/a..b/...", KEPT, "/v1", "/.well-known/a..b/..."),
        ("/v1/\u00e9", KEPT, "/v1", "/\u00e9"),
        ("/7", Mount(("a b", "\u00e9"), strip=True), "", "/a%20b/%C3%A9/7"),
    ],
)
def test_a_place_of_the_upstream_is_told_as_agents_know_it(value: str, mount: Mount, base: str, told: str) -> None:
    """Without what `url` says, and under the mount where that is stripped: nobody learns the inner address."""
    assert mapped(value, mount, base) == told
    assert mapped(value, mount, base, name="content-LOCATION") == told


@pytest.mark.parametrize(
    ("value", "mount", "base"),
    [
        ("https://elsewhere.example/7", STRIPPED, ""),
        ("https://api.internal:8443/7", STRIPPED, ""),
        ("http://api.internal/7", STRIPPED, ""),
        ("http://ann@api.internal:8443/7", STRIPPED, ""),
        ("7", STRIPPED, ""),
        ("../7", STRIPPED, ""),
        ("?x=1", STRIPPED, ""),
        ("", STRIPPED, ""),
        ("mailto:ann@example.com", STRIPPED, ""),
        ("/login", STRIPPED, "/api"),
        ("/apis/7", STRIPPED, "/api"),
        ("/notes/7", KEPT, ""),
        ("http://api.internal:8443//elsewhere.example/7", KEPT, ""),
        ("/v1//elsewhere.example/7", KEPT, "/v1"),
        ("/v1/\\elsewhere.example/7", KEPT, "/v1"),
        ("/v1/\t/elsewhere.example/7", KEPT, "/v1"),
        ("http://api.internal:8443/\\elsewhere.example/7", KEPT, ""),
        ("/\\elsewhere.example/7", STRIPPED, ""),
        ("/7 8", STRIPPED, ""),
        ("/v1/../login", KEPT, "/v1"),
        ("/v1/%2E./login", KEPT, "/v1"),
        ("/v1/a/..?x", KEPT, "/v1"),
        ("/./7", STRIPPED, ""),
        ("/7", Mount(("notes",), strip=True, locations="opaque"), ""),
    ],
)
def test_any_other_place_stays_as_it_is(value: str, mount: Mount, base: str) -> None:
    """Another server's, one that is relative, one beside all that is forwarded, what would become another server's, and
    what is no plain path."""
    assert mapped(value, mount, base) == value


@pytest.mark.parametrize("authority", ["api.internal", "api.internal:443", "API.INTERNAL"])
def test_the_port_of_the_scheme_need_not_be_said(authority: str) -> None:
    """It is one address."""
    assert mapped(f"https://{authority}/7", STRIPPED, origin=Origin("https", "api.internal", 443)) == "/notes/7"


def test_other_fields_are_left_alone() -> None:
    """A link or a cookie's path is no place that a client goes to by itself."""
    assert mapped("/7", STRIPPED, name="Link") == "/7"
