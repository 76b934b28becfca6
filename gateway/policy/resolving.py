"""The addresses behind a host, however it is spelled, and whether they are this machine's."""

import socket
import time
from collections.abc import Iterable, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address
from threading import Thread

Addresses = frozenset[IPv4Address | IPv6Address]

# A start waits for it, and so does a reload; resolvers that do not answer are asked again for ten seconds and more.
_WITHIN_S = 2.0


def resolve(hosts: Iterable[str]) -> Mapping[str, Addresses]:
    """What connections to each host would go to: also of `127.1`, of `2130706433`, of a name. IPv4 in IPv6 is IPv4.

    A name that is not known, or of which nobody tells within two seconds, is left out.
    """
    found: dict[str, Addresses] = {}
    # In threads, for nothing else bounds it; one that is left waiting keeps no process alive.
    asking = [Thread(target=_find, args=(host, found), daemon=True) for host in set(hosts)]
    for thread in asking:
        thread.start()
    until = time.monotonic() + _WITHIN_S
    for thread in asking:
        thread.join(max(0.0, until - time.monotonic()))
    return found.copy()


def _find(host: str, found: dict[str, Addresses]) -> None:
    try:
        known = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return
    found[host] = frozenset(_unmapped(str(address[0])) for _, _, _, _, address in known)


def _unmapped(text: str) -> IPv4Address | IPv6Address:
    address = ip_address(text)
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return address if mapped is None else mapped


def is_of_machine(address: IPv4Address | IPv6Address) -> bool:
    """Whether this machine has the address: only then may a socket be bound to it. Nothing is sent."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.bind((str(address), 0))
    except OSError:
        # All of 127.0.0.0/8 is the machine's, also where a system lets nobody bind to it.
        return address.is_loopback
    return True
