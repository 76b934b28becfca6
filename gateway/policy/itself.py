"""An upstream that is the gateway itself: agents would reach the operators' calls, or every request itself again."""

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import IPv4Address, IPv6Address, ip_address

from gateway.core.rule import Origin
from gateway.policy.entry import Policy
from gateway.policy.finding import Finding
from gateway.policy.resolving import Addresses, is_of_machine, resolve

# Where the gateway listens: host and port.
Listeners = tuple[tuple[str, int], ...]

# Whatever a resolver says of `localhost`: it may know one of the two only.
_LOOPBACK: Addresses = frozenset((ip_address("127.0.0.1"), ip_address("::1")))


def sent_to_itself(policies: Iterable[Policy], listeners: Listeners) -> tuple[Finding, ...]:
    """A finding for each upstream whose `url` or whose `notify` is one of the gateway's own listeners.

    By address, whatever its spelling: a name is asked for where the port is a listener's. One that nobody knows now is
    no fault.
    """
    named = [one for policy in policies for one in _origins(policy) if _at(one[0], listeners)]
    known = resolve(host for origin, _ in named for host in (origin.host, *_at(origin, listeners)))
    return tuple(finding for origin, finding in named if _is_own(origin, _at(origin, listeners), known))


def _origins(policy: Policy) -> Iterator[tuple[Origin, Finding]]:
    """Where it sends to, each with what is wrong if the gateway listens there."""
    upstream = policy.upstream
    at = upstream.origin.authority
    message = f"`url` is {at}, where this gateway itself listens; write where the API listens"
    yield upstream.origin, policy.place.finding(message)
    if upstream.notify is not None:
        message = "`notify` is where this gateway itself listens; name the receiver"
        yield upstream.notify.origin, policy.place.finding(message)


def _at(origin: Origin, listeners: Listeners) -> list[str]:
    return [host for host, port in listeners if port == origin.port]


def _is_own(origin: Origin, at: list[str], known: Mapping[str, Addresses]) -> bool:
    to = _addresses(origin.host, known)
    own = [address for host in at for address in _addresses(host, known)]
    return origin.host in at or any(_reaches(one, other) for one in to for other in own)


def _reaches(to: IPv4Address | IPv6Address, own: IPv4Address | IPv6Address) -> bool:
    """Whether connecting to the one address ends at who listens on the other."""
    if own.is_unspecified:
        return to.is_unspecified or is_of_machine(to)
    # Connecting to none goes to the machine itself.
    return own.is_loopback if to.is_unspecified else to == own


def _addresses(host: str, known: Mapping[str, Addresses]) -> Addresses:
    return _LOOPBACK if host == "localhost" else known.get(host, frozenset())
