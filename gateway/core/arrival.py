"""Where requests come from: the address of the peer, and whether what it says of those before it is believed."""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Literal

Network = IPv4Network | IPv6Network
Scheme = Literal["http", "https"]


@dataclass(frozen=True, slots=True)
class Arrival:
    """How the requests of one connection come: its peer's address, and the scheme and version that are spoken.

    `is_trusted`: the peer is a proxy of the operator's, and its `X-Forwarded-*` and `Forwarded` are believed.
    """

    address: str
    scheme: Scheme = "http"
    is_trusted: bool = False
    version: Literal["1.0", "1.1"] = "1.1"


class TrustedProxies:
    """The networks of the operator's own proxies. Without any, every peer is taken for the client itself."""

    __slots__ = ("_networks",)

    def __init__(self, networks: Iterable[Network] = ()) -> None:
        self._networks = tuple(networks)

    def trust(self, address: str) -> bool:
        if not self._networks:
            return False
        read = ip_address(address)
        return any(read in network for network in self._networks)

    def arrival(self, peer: object, scheme: Scheme) -> Arrival | None:
        """How `peer` arrives, a socket's name of it: (address, port, ...). None where it has no address."""
        address = plain_address(str(peer[0])) if isinstance(peer, tuple) and peer else None
        return None if address is None else Arrival(address, scheme, self.trust(address))


def plain_address(text: str) -> str | None:
    """An IP address in its usual spelling, an IPv4 one without its IPv6 clothes; None if it is not one."""
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return str(mapped or address)
