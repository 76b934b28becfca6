"""Addresses as they are written, and who reaches them."""

import pytest

from gateway.core.address import Address


@pytest.mark.parametrize(
    ("address", "written"),
    [
        (Address("127.0.0.1", 8080), "127.0.0.1:8080"),
        (Address("::1", 0), "[::1]:0"),
        (Address("store-1", 6379), "store-1:6379"),
    ],
)
def test_an_address_is_written_as_in_a_url(address: Address, written: str) -> None:
    """A number of version 6 stands in brackets (RFC 3986, section 3.2.2)."""
    assert str(address) == written


@pytest.mark.parametrize(
    ("host", "only_here"),
    [
        *((host, True) for host in ("localhost", "127.0.0.1", "127.9.9.9", "::1")),
        *((host, False) for host in ("0.0.0.0", "::", "10.0.0.1", "localhost.example", "LOCALHOST", "store-1", "")),
    ],
)
def test_a_loopback_address_is_reached_from_this_machine_alone(host: str, only_here: bool) -> None:
    """A name that may mean anything counts as reached from elsewhere."""
    assert Address(host, 1).is_loopback is only_here
