"""One port for several processes: the parent holds it, each worker listens on it.

The parent's socket is bound and never listens. It fixes the number that port 0 stood for, and keeps the port from
others while a worker is restarted; the kernel spreads connections over those who listen.
"""

import errno
import socket
from contextlib import ExitStack

from gateway.core.address import Address

BACKLOG = 1024

# Host and port; of IPv6 the flow and the zone, too. The last is what Python has where IPv6 is not built in.
_Sockaddr = tuple[str, int] | tuple[str, int, int, int] | tuple[int, bytes]


def hold_port(address: Address) -> socket.socket:
    """Bind without listening. Raises OSError if the address cannot be had, by another gateway's use of it too."""
    # Workers share the port by SO_REUSEPORT, which would let a second gateway of the same user share it as well. So it
    # is first asked for as anyone would: SO_REUSEADDR only passes over connections that have ended.
    with _new_socket(address) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(_sockaddr(address))
        held = _new_socket(address)
    try:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(_sockaddr(address))
    except OSError:
        held.close()
        raise
    return held


def bound_address(held: socket.socket) -> Address:
    """What the socket is bound to, the port as a number that was given."""
    host, port = held.getsockname()[:2]
    return Address(host, port)


def listen_beside(address: Address) -> socket.socket:
    """Listen on a port that the parent holds."""
    listening = _new_socket(address)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listening.bind(_sockaddr(address))
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening


def listen_alone(address: Address) -> tuple[socket.socket, ...]:
    """Listen on a port that nobody shares, at every address that its name stands for. Raises OSError."""
    with ExitStack() as opened:
        sockets = []
        for family, sockaddr in dict.fromkeys(_resolve(address)):
            listening = opened.enter_context(socket.socket(family, socket.SOCK_STREAM))
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                # Else `::` takes the IPv4 port too, which a name may stand for beside it.
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            listening.bind(sockaddr)
            listening.listen(BACKLOG)
            listening.setblocking(False)
            sockets.append(listening)
        opened.pop_all()
    return tuple(sockets)


def _new_socket(address: Address) -> socket.socket:
    family, _ = _resolve(address)[0]
    return socket.socket(family, socket.SOCK_STREAM)


def _sockaddr(address: Address) -> tuple[str, int]:
    """The first address that a name stands for: one listener is one address."""
    _, (host, port, *_) = _resolve(address)[0]
    return str(host), int(port)


def _resolve(address: Address) -> list[tuple[socket.AddressFamily, _Sockaddr]]:
    """Every address that a name stands for. Raises OSError."""
    try:
        found = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except UnicodeError:
        raise OSError(errno.EINVAL, f"`{address.host}` is no name of a host") from None
    return [(family, sockaddr) for family, _, _, _, sockaddr in found]
