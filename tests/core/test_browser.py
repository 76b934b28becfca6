"""How a page of another site shows."""

import pytest

from gateway.core.browser import is_loopback_name, is_of_browser, is_of_other_site
from gateway.core.request import Headers

OWN = (b"Host", b"localhost:8080")
SENT = {
    "no browser": ((), False),
    "another site": (((b"Sec-Fetch-Site", b"cross-site"),), True),
    "another port of this machine": (((b"Sec-Fetch-Site", b"same-site"),), True),
    "this very origin": (((b"Sec-Fetch-Site", b"same-origin"), (b"Origin", b"http://localhost:8080")), False),
    "this origin behind a proxy that writes Host": (
        ((b"Sec-Fetch-Site", b"same-origin"), (b"Origin", b"https://fence.example")),
        False,
    ),
    "an address that was typed": (((b"Sec-Fetch-Site", b"none"),), False),
    "an older browser, another site": (((b"Origin", b"https://evil.example"),), True),
    "an older browser, another port": (((b"Origin", b"http://localhost:3000"),), True),
    "an older browser, this origin": (((b"Origin", b"http://LOCALHOST:8080"),), False),
    "a page without an origin": (((b"Origin", b"null"),), True),
    "a word that no browser says": (((b"Sec-Fetch-Site", b"SAME-ORIGIN"),), True),
}


@pytest.mark.parametrize(("fields", "other"), SENT.values(), ids=SENT.keys())
def test_a_browser_says_for_whom_it_asks(fields: tuple[tuple[bytes, bytes], ...], other: bool) -> None:
    """By `Sec-Fetch-Site`, or by `Origin` where that is missing or tells more."""
    assert is_of_other_site(Headers((OWN, *fields))) is other


@pytest.mark.parametrize(
    ("host", "own"),
    [
        *((name, True) for name in ("localhost", "LOCALHOST:80", "127.0.0.1", "127.8.8.8:1", "[::1]:8080", "[::1]")),
        *((name, False) for name in ("", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80")),
        *((name, False) for name in ("192.0.2.1", "0.0.0.0", "2130706433", "evil@localhost", "localhost:80:80")),
    ],
)
def test_a_name_is_the_machines_own_or_not(host: str, own: bool) -> None:
    """With or without a port; a name that was rebound is none of them."""
    assert is_loopback_name(host) is own


BROWSERS = {
    "a write": ((b"Origin", b"https://evil.example"), True),
    "a site that was told": ((b"Sec-Fetch-Site", b"same-origin"), True),
    "a page before": ((b"Referer", b"http://evil.example/"), True),
    "its name": ((b"User-Agent", b"Mozilla/5.0 (X11)"), True),
    "its person's language": ((b"Accept-Language", b"en-US,en;q=0.5"), True),
    "a language that a script set": ((b"Accept-Language", b""), True),
    "curl": ((b"User-Agent", b"curl/8.5.0"), False),
    "a library that unpacks": ((b"Accept-Encoding", b"gzip, deflate"), False),
}


@pytest.mark.parametrize(("field", "browser"), BROWSERS.values(), ids=BROWSERS.keys())
def test_a_browser_shows_by_what_no_page_leaves_out(field: tuple[bytes, bytes], browser: bool) -> None:
    """One of its marks is enough."""
    assert is_of_browser(Headers((OWN, field))) is browser


def test_fetch_outside_of_browsers_is_no_browser() -> None:
    """Its mode without its site is what no browser sends, and no page can set."""
    fields = ((b"Accept-Language", b"*"), (b"Sec-Fetch-Mode", b"cors"))

    assert not is_of_browser(Headers((OWN, *fields)))
    assert is_of_browser(Headers((OWN, *fields, (b"Sec-Fetch-Site", b"same-origin"))))
