"""Where this gateway listens itself: no connection to an upstream may end there.

Policies that name such an address are refused when they are loaded. A name may lead elsewhere later, and agents would
reach the operators' calls by it: so each new connection is looked at too, whatever led it there.
"""

import socket
from collections import defaultdict
from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

_Ip = IPv4Address | IPv6Address


class OwnListeners:
    """By host and port. A host that is a name stands for every address of this machine."""

    __slots__ = ("_at",)

    def __init__(self, listeners: Iterable[tuple[str, int]] = ()) -> None:
        self._at: defaultdict[int, list[_Ip | None]] = defaultdict(list)
        for host, port in listeners:
            self._at[port].append(_address(host))

    def reached_by(self, connected: socket.socket) -> bool:
        """Whether a connected socket's other end is one of them. Raises OSError if it is connected no more."""
        host, port = connected.getpeername()[:2]
        if port not in self._at:
            return False
        peer, here = _address(host), _address(connected.getsockname()[0])
        # Who connects to an address of its own machine does so from that address, or from loopback.
        is_of_machine = peer is not None and (peer == here or peer.is_loopback)
        return any(peer == own or (_is_any(own) and is_of_machine) for own in self._at[port])


def _is_any(own: _Ip | None) -> bool:
    return own is None or own.is_unspecified


def _address(host: str) -> _Ip | None:
    """IPv4 in IPv6 is IPv4; None for a name."""
    try:
        address = ip_address(host)
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


# Of a process that listens nowhere.
NOWHERE = OwnListeners()
