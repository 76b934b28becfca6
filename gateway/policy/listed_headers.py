"""Which header fields a request may have where the policy lists them. What has another spelling is another field."""

from dataclasses import dataclass, replace

from gateway.core.field_name import plain_name
from gateway.core.request import Headers, Request
from gateway.core.withheld import Withheld
from gateway.policy.reading.ordinary_headers import is_idle, is_needed


@dataclass(frozen=True, slots=True)
class ListedHeaders:
    """`names` are those that the policy lists or looks at, in lower case; `withheld` is what does not reach the API."""

    names: frozenset[bytes]
    withheld: Withheld

    def stray(self, headers: Headers) -> str | None:
        """The first field that says more; none of those that are sent unasked or dropped."""
        names = (name for name in headers.names() if name not in self.names)
        strays = (name for name in names if not (is_needed(name) or is_idle(name)))
        found = next((name for name in strays if not self.withheld.covers(plain_name(name))), None)
        return None if found is None else found.decode("latin-1")

    def without_idle(self, request: Request) -> Request:
        """The request as it is sent: a field that nobody asked for need not reach an API that binds it to a name."""
        if not any(map(self._drops, request.headers.names())):
            return request
        pairs = (pair for pair in request.headers.pairs if not self._drops(pair[0].lower()))
        return replace(request, headers=Headers(pairs))

    def _drops(self, name: bytes) -> bool:
        return is_idle(name) and name not in self.names
