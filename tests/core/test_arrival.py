"""Where requests come from, and which peers are believed."""

from ipaddress import ip_network

import pytest

from gateway.core.arrival import Arrival, TrustedProxies, plain_address

PROXIES = TrustedProxies(map(ip_network, ("10.1.0.0/16", "192.0.2.7", "2001:db8::/32")))


@pytest.mark.parametrize(
    ("peer", "expected"),
    [
        (("10.1.2.3", 4711), Arrival("10.1.2.3", is_trusted=True)),
        (("10.2.2.3", 4711), Arrival("10.2.2.3")),
        (("192.0.2.7", 1), Arrival("192.0.2.7", is_trusted=True)),
        (("::ffff:10.1.2.3", 1, 0, 0), Arrival("10.1.2.3", is_trusted=True)),
        (("2001:db8::1", 1, 0, 0), Arrival("2001:db8::1", is_trusted=True)),
        (("fe80::1%eth0", 1, 0, 2), Arrival("fe80::1")),
        ("/run/gateway.sock", None),
        ((), None),
        (None, None),
    ],
    ids=str,
)
def test_a_peer_is_trusted_by_its_address(peer: object, expected: Arrival | None) -> None:
    """An IPv4 address in an IPv6 socket is the same one; a peer without an address has no arrival."""
    assert PROXIES.arrival(peer, "http") == expected


def test_without_proxies_nobody_is_trusted() -> None:
    """Not even this machine."""
    assert not TrustedProxies().trust("127.0.0.1")


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("2001:DB8:0::1", "2001:db8::1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("192.0.2.1:80", None),
        ("unknown", None),
        ("", None),
        ("192.0.2", None),
    ],
)
def test_an_address_has_one_spelling(text: str, address: str | None) -> None:
    """So that it is found in a log, whoever wrote it."""
    assert plain_address(text) == address
