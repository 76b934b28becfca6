"""Which header fields a request may have where the policy lists them. What has another spelling is another field."""

import re
from dataclasses import dataclass, replace

from gateway.core.field_name import plain_name
from gateway.core.request import Headers, Request
from gateway.core.withheld import Withheld
from gateway.policy.reading.ordinary_headers import CONDITIONS, is_idle, is_needed

_JSON_KIND = rb"application/(?:[\w.-]+\+)?json"
_PARAMETER = rb" *; *(?!q *=)[\w.-]+=(?:[\w./+-]+|\"[\w ./:=+-]*\")"
# What clients send behind it, of which none is a page.
_BEHIND = rb"(?:%b|text/plain|text/javascript|text/event-stream|multipart/mixed|(?:application|\*)/\*)" % _JSON_KIND
_ASKS_FOR_JSON = re.compile(rb"\*/\*|%b(?:%b)*(?: *, *%b(?: *; *q=[01][.0-9]*)?)*" % (_JSON_KIND, _PARAMETER, _BEHIND))
_JSON = b"application/json"
_ACCEPT, _REFERER = b"accept", b"referer"


@dataclass(frozen=True, slots=True)
class ListedHeaders:
    """`names` are those that the policy lists or looks at, in lower case; `withheld` is what does not reach the API.

    `is_write`: it is sent under the fence. What an agent may choose freely then must not decide what its answer says
    once the write is done: frameworks look for a form, draw pages and compare conditions behind the deed.
    `is_conditional`: the API compares conditions before it acts.
    """

    names: frozenset[bytes]
    withheld: Withheld
    is_write: bool = False
    is_conditional: bool = False

    def stray(self, headers: Headers) -> str | None:
        """The first field that says more; none of those that are sent unasked or dropped."""
        names = (name for name in headers.names() if name not in self.names)
        strays = (name for name in names if not self._may_come(name))
        found = next((name for name in strays if not self.withheld.covers(plain_name(name))), None)
        return None if found is None else found.decode("latin-1")

    def sent(self, request: Request) -> Request:
        """The request as it is sent: a field that nobody asked for need not reach an API that binds it to a name."""
        keeps_accept = not self.is_write or _ACCEPT in self.names or _asks_for_json(request.headers)
        if keeps_accept and not any(map(self._drops, request.headers.names())):
            return request
        pairs = [pair for pair in request.headers.pairs if not self._drops(pair[0].lower())]
        if not keeps_accept:
            pairs = [*(pair for pair in pairs if pair[0].lower() != _ACCEPT), (b"Accept", _JSON)]
        return replace(request, headers=Headers(pairs))

    def _may_come(self, name: bytes) -> bool:
        if self.is_write and not self.is_conditional and name in CONDITIONS:
            return False
        return is_needed(name) or is_idle(name)

    def _drops(self, name: bytes) -> bool:
        return name not in self.names and (is_idle(name) or (self.is_write and name == _REFERER))


def _asks_for_json(headers: Headers) -> bool:
    return all(_ASKS_FOR_JSON.fullmatch(value.strip().lower()) for value in headers.all(_ACCEPT))
