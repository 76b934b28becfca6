"""The proxy's port: one gateway's, however many of its workers listen on it."""

import socket
from collections.abc import Callable

import pytest

from gateway.core.address import Address
from gateway.serve.port import bound_address, hold_port, listen_alone, listen_beside

ANY_PORT = Address("127.0.0.1", 0)


def exchange(address: Address, listening: socket.socket) -> bytes:
    listening.setblocking(True)
    with socket.create_connection((address.host, address.port)) as caller:
        accepted, _ = listening.accept()
        with accepted:
            accepted.sendall(b"hello")
        return caller.recv(5)


def test_port_0_is_one_port_for_all_workers() -> None:
    """The parent's socket says which port was found; workers listen on that one."""
    with hold_port(ANY_PORT) as held:
        address = bound_address(held)
        assert address.port != 0
        with listen_beside(address), listen_beside(address) as another:
            assert another.getsockname()[1] == address.port


def test_connections_go_to_those_who_listen() -> None:
    """The parent's socket takes no connection away from the workers."""
    with hold_port(ANY_PORT) as held, listen_beside(bound_address(held)) as worker:
        assert exchange(bound_address(held), worker) == b"hello"


@pytest.mark.parametrize("workers", [0, 1], ids=["before its workers listen", "while its workers listen"])
def test_a_second_gateway_is_refused_the_port(workers: int) -> None:
    """Sharing the port is for one gateway's workers; two gateways would take each other's requests."""
    with hold_port(ANY_PORT) as held:
        address = bound_address(held)
        listening = [listen_beside(address) for _ in range(workers)]
        with pytest.raises(OSError, match="in use"):
            hold_port(address)
        for worker in listening:
            worker.close()


def test_a_gateway_that_has_ended_leaves_the_port_to_the_next() -> None:
    """Connections that have ended linger in the kernel; they keep nobody from starting."""
    with hold_port(ANY_PORT) as held:
        address = bound_address(held)
        with listen_beside(address) as worker:
            assert exchange(address, worker) == b"hello"

    with hold_port(address) as held, listen_beside(address) as worker:
        assert exchange(address, worker) == b"hello"


def test_an_ipv6_address_is_held_like_any_other() -> None:
    """Both families of addresses serve."""
    with hold_port(Address("::1", 0)) as held, listen_beside(bound_address(held)) as worker:
        assert exchange(bound_address(held), worker) == b"hello"


@pytest.mark.parametrize("listen", [hold_port, listen_alone])
def test_what_cannot_be_a_name_is_refused_as_an_unknown_one_is(listen: Callable[[Address], object]) -> None:
    """A label is empty: no resolver is even asked."""
    with pytest.raises(OSError, match="no name of a host"):
        listen(Address("a..example", 0))


def test_a_port_that_nobody_shares_is_refused_to_a_second() -> None:
    """At every address that the name stands for; nothing stays open behind a refusal."""
    first = listen_alone(ANY_PORT)
    address = bound_address(first[0])
    with pytest.raises(OSError, match="in use"):
        listen_alone(address)
    assert exchange(address, first[0]) == b"hello"
    first[0].close()

    for again in listen_alone(address):
        again.close()
