"""The spelling of an upstream's own host, where what agents send as `Host` reaches the API.

To the gateway `a.example:9`, `A.example` and `a.example.` are `a.example`. To HAProxy's `hdr(host)`, to Envoy's virtual
hosts, to Go's and Werkzeug's patterns they are none of their sites: the one that takes all others gets the request.
"""

import re
from typing import Self

from gateway.core.decision import AMBIGUOUS_TARGET, OF_ANYTHING, Refused
from gateway.core.request import Headers
from gateway.core.rule import Upstream


class OwnHost:
    """`Host` as it has to be spelled: with no port but the mount's where it is forwarded as it came, with any where
    `X-Forwarded-Host` and its like tell of it, from which servers take the port away."""

    __slots__ = ("_plain", "_site", "_with_port")

    def __init__(self, site: str, *, any_port: bool) -> None:
        self._site = site
        self._plain = site.encode("ascii")
        self._with_port = re.compile(re.escape(self._plain) + rb":[0-9]+") if any_port else None

    @classmethod
    def of(cls, upstream: Upstream) -> Self | None:
        """None where agents need no host to reach it, or none that they send goes further."""
        site = upstream.mount.site
        if site is None or not (upstream.preserve_host or upstream.forwarded != "trusted"):
            return None
        return cls(site, any_port=not upstream.preserve_host)

    def refusal(self, headers: Headers) -> Refused | None:
        sent = headers.first(b"host")
        if not sent or sent == self._plain or (self._with_port and self._with_port.fullmatch(sent)):
            return None
        detail = "Nothing was forwarded: the API is told the Host, and in this spelling some servers find another site."
        advice = f"Send `Host: {self._site}`"
        if self._with_port is None:
            advice += "; where agents reach the gateway at another port, the policy's `mount.host` has to name it"
        return Refused(AMBIGUOUS_TARGET, f"{detail} {advice}.", OF_ANYTHING)
