"""What a page of another site can make a browser do through the proxy listener: nothing.

Only where nobody has a key: no page knows one.
"""

from gateway.core.browser import is_of_browser, is_of_other_site, names_machine
from gateway.core.decision import FORBIDDEN, Refused
from gateway.core.host import host_name
from gateway.core.request import Headers
from gateway.core.websocket import asks_for_upgrade
from gateway.policy.pattern import READ_METHODS
from gateway.policy.ruleset import RuleSet

_PAGE = Refused(FORBIDDEN, "Nothing was done: a browser has sent it for a page of another site.")
_NAME = Refused(
    FORBIDDEN,
    "Nothing was done: by its headers a browser has sent it, to a name that is not this machine's. Call this listener "
    "as localhost or 127.0.0.1, let a policy's `mount` name the host, or trust the proxy that passes it on.",
)


def refuse_name(headers: Headers, rules: RuleSet) -> Refused | None:
    """Refuse a browser a name that is not this machine's: one that was rebound to it lets a page read its answers.

    Other clients may come by any name: a proxy on this machine passes its own on.
    """
    host = headers.first(b"host")
    if host is None or names_machine(host) or not is_of_browser(headers):
        return None
    name = host_name(host)
    return None if any(upstream.mount.host == name for upstream in rules.upstreams) else _NAME


def refuse_page(method: str, headers: Headers) -> Refused | None:
    """Refuse what a page sends without the browser asking first. Its reads pass: it does not see their answers."""
    if is_of_other_site(headers) and (method not in READ_METHODS or asks_for_upgrade(headers)):
        return _PAGE
    return None
