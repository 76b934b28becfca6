"""Which header fields a request may have where the policy lists them. What has another spelling is another field."""

from dataclasses import dataclass

from gateway.core.field_name import plain_name
from gateway.core.request import Headers
from gateway.core.withheld import Withheld
from gateway.policy.reading.ordinary_headers import is_sent_unasked


@dataclass(frozen=True, slots=True)
class ListedHeaders:
    """`names` are those that the policy lists or looks at, in lower case; `withheld` is what does not reach the API."""

    names: frozenset[bytes]
    withheld: Withheld

    def stray(self, headers: Headers) -> str | None:
        """The first field that says more; none of those that are sent unasked or dropped."""
        strays = (name for name in headers.names() if name not in self.names and not is_sent_unasked(name))
        found = next((name for name in strays if not self.withheld.covers(plain_name(name))), None)
        return None if found is None else found.decode("latin-1")
