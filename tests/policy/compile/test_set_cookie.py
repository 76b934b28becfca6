"""Whether an upstream's cookies reach agents."""

from pathlib import Path

import pytest

from tests.certificates import Authority
from tests.policy.asking import HEAD, rules

CREDENTIALS = 'credentials: [{header: X-Key, value: "${env:TOKEN}"}]\n'


@pytest.mark.parametrize(
    ("lines", "dropped"),
    [
        ("", False),
        (CREDENTIALS, True),
        ("set_cookie: drop\n", True),
        ("set_cookie: pass\n", False),
        (CREDENTIALS + "set_cookie: drop\n", True),
        (CREDENTIALS + "set_cookie: pass\n", False),
    ],
    ids=["nothing", "credentials", "drop", "pass", "credentials, drop", "credentials, pass"],
)
def test_they_do_not_where_the_gateway_has_credentials(tmp_path: Path, lines: str, dropped: bool) -> None:
    """Unless the policy says otherwise."""
    assert rules(tmp_path, HEAD + lines).upstreams[0].drops_cookies is dropped


def test_a_client_certificate_is_a_credential(tmp_path: Path) -> None:
    """An authority that upstreams are trusted by is none."""
    authority = Authority(tmp_path / "tls")
    certificate, key = authority.issue("gateway")
    head = HEAD.replace("http:", "https:")

    shown = rules(tmp_path, f"{head}tls: {{ca: {authority.ca}, cert: {certificate}, key: {key}}}\n")
    assert shown.upstreams[0].drops_cookies
    assert not rules(tmp_path, f"{head}tls: {{ca: {authority.ca}}}\n").upstreams[0].drops_cookies
