"""What a compiled policy says where it says nothing."""

from typing import Literal

import pytest

from gateway.core.rule import DEFAULT_OUTCOMES, Fence, KeyUrl, Origin, Rule, Signed, Upstream


@pytest.mark.parametrize(
    ("scheme", "host", "port", "authority"),
    [
        ("http", "api.internal", 80, "api.internal"),
        ("http", "api.internal", 443, "api.internal:443"),
        ("https", "api.internal", 443, "api.internal"),
        ("https", "127.0.0.1", 8443, "127.0.0.1:8443"),
        ("http", "::1", 80, "[::1]"),
        ("http", "::1", 8080, "[::1]:8080"),
    ],
)
def test_host_is_sent_without_the_schemes_own_port(
    scheme: Literal["http", "https"], host: str, port: int, authority: str
) -> None:
    """As RFC 9110, section 7.2, wants it; an IPv6 address stands in brackets."""
    assert Origin(scheme, host, port).authority == authority


def test_by_default_4xx_is_a_no_and_5xx_is_open() -> None:
    """But for 406, 408 and 499, which prove nothing; no status is in both."""
    assert DEFAULT_OUTCOMES.unknown == {406, 408, 499, *range(500, 600)}
    assert DEFAULT_OUTCOMES.not_applied == {*range(400, 500)} - {406, 408, 499}


def test_by_default_a_rule_wants_a_lease_and_admits_one_write_at_a_time() -> None:
    """The safe choice is the one that nobody has to write."""
    rule = Rule("r", Upstream("u", Origin("http", "localhost", 80)))

    assert (rule.authority, rule.token_from, rule.revision) == ("lease", ("fencing-token",), "off")
    assert rule.fence == Fence("monotonic", "serial", 10.0, 10.0, "off")


def test_credentials_are_not_shown() -> None:
    """What a log shows of an upstream holds no secret."""
    upstream = Upstream("u", Origin("http", "localhost", 80), credentials=((b"Authorization", b"hunter2"),))

    assert "hunter2" not in repr(upstream)


def test_the_query_of_a_keys_url_is_not_shown() -> None:
    """Some issuers want a secret there; what fetches the keys sends it."""
    url = KeyUrl(Origin("https", "issuer.internal", 443), "/keys?code=hunter2")

    assert str(Signed(url, ("ES256",))) == "ES256 with https://issuer.internal/keys"
    assert url.target == "/keys?code=hunter2"
