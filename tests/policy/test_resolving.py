"""The addresses behind a host."""

import socket
import threading
from ipaddress import ip_address
from typing import Any

import pytest

from gateway.policy import resolving
from gateway.policy.resolving import is_of_machine, resolve


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.1", "::ffff:127.0.0.1"])
def test_an_address_is_one_however_it_is_spelled(host: str) -> None:
    """As the system's own resolver reads it, which connects."""
    assert resolve([host]) == {host: {ip_address("127.0.0.1")}}


@pytest.mark.parametrize("host", ["a..b", "x" * 300], ids=["an empty label", "a long label"])
def test_what_is_no_host_has_no_address(host: str) -> None:
    """Nothing is raised for a name that cannot be one."""
    assert resolve([host]) == {}


def test_a_resolver_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A start is late by the bound at most, for however many names; what was told in time counts."""
    over, real = threading.Event(), socket.getaddrinfo

    def ask(host: str, *terms: Any, **more: Any) -> Any:
        if host.endswith(".internal"):
            over.wait(60)
        return real("127.0.0.1", *terms, **more)

    monkeypatch.setattr("socket.getaddrinfo", ask)
    monkeypatch.setattr(resolving, "_WITHIN_S", 0.3)

    found = resolve(["near", *(f"api{number}.internal" for number in range(20))])
    over.set()

    assert list(found) == ["near"]


@pytest.mark.parametrize(("address", "own"), [("127.0.0.1", True), ("127.0.0.5", True), ("192.0.2.1", False)])
def test_an_address_is_the_machines_or_not(address: str, own: bool) -> None:
    """192.0.2.0/24 is for documentation: no machine has it (RFC 5737)."""
    assert is_of_machine(ip_address(address)) is own
