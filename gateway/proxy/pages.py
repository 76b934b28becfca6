"""What a page of another site can make a browser on this machine do through the proxy listener: nothing."""

from gateway.core.decision import FORBIDDEN, Refused
from gateway.core.page import host_name, is_loopback_name, is_of_other_site
from gateway.core.request import Headers
from gateway.core.websocket import asks_for_upgrade
from gateway.policy.pattern import READ_METHODS
from gateway.policy.ruleset import RuleSet

_PAGE = Refused(FORBIDDEN, "Nothing was done: a browser has sent it for a page of another site.")
_NAME = Refused(
    FORBIDDEN,
    "Nothing was done: the Host header names another machine. Call this listener as localhost or 127.0.0.1, or let a "
    "policy's `mount` name the host.",
)


def refuse_page(method: str, headers: Headers, rules: RuleSet, *, is_trusted: bool) -> Refused | None:
    """Refuse what only a browser on this machine can have sent for somebody else, where nobody has a key.

    A name that was rebound to this machine shows in `Host`; `is_trusted`: a proxy of the operator's own has sent it,
    and may use any. A page's reads without a name of its own are let through: it does not see their answers.
    """
    host = headers.first(b"host")
    if host is not None and not is_trusted and not _is_known(host.decode("latin-1"), rules):
        return _NAME
    changes = method not in READ_METHODS or asks_for_upgrade(headers)
    return _PAGE if changes and is_of_other_site(headers) else None


def _is_known(host: str, rules: RuleSet) -> bool:
    return is_loopback_name(host) or any(upstream.mount.host == host_name(host) for upstream in rules.upstreams)
