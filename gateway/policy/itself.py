"""An upstream that is the gateway itself: agents would reach the operators' calls, or every request itself again."""

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address

from gateway.core.rule import Origin
from gateway.policy.entry import Policy
from gateway.policy.finding import Finding

# Where the gateway listens: host and port.
Listeners = tuple[tuple[str, int], ...]


def sent_to_itself(policies: Iterable[Policy], listeners: Listeners) -> tuple[Finding, ...]:
    """A finding for each upstream whose `url` or whose `notify` is one of the gateway's own listeners."""
    findings = []
    for policy in policies:
        upstream = policy.upstream
        if _is_own(upstream.origin, listeners):
            at = upstream.origin.authority
            message = f"`url` is {at}, where this gateway itself listens; write where the API listens"
            findings.append(policy.place.finding(message))
        if upstream.notify is not None and _is_own(upstream.notify.origin, listeners):
            findings.append(policy.place.finding("`notify` is where this gateway itself listens; name the receiver"))
    return tuple(findings)


def _is_own(origin: Origin, listeners: Listeners) -> bool:
    return any(port == origin.port and _reaches(origin.host, host) for host, port in listeners)


def _reaches(host: str, listener: str) -> bool:
    """Whether connecting to `host` ends at who listens on `listener`, as far as the spelling tells."""
    to, at = _address(host), _address(listener)
    if host == listener or to is None or at is None:
        return host == listener
    if to.is_unspecified or at.is_unspecified or "localhost" in (host, listener):
        # Bound to no address it has all of the machine; connecting to none goes to the machine itself.
        return all(one.is_loopback or one.is_unspecified for one in (to, at))
    return to == at


def _address(host: str) -> IPv4Address | IPv6Address | None:
    """None for what is neither an address nor a name of this machine."""
    try:
        return ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        return None
