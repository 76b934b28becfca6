"""Which header fields pass: hop-by-hop ones never, in neither direction; the gateway's own never reach an upstream, nor
does what anybody but a trusted proxy says of who sent a request. A session that is the gateway's reaches no agent.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Literal

from gateway.core.field_name import plain_name
from gateway.core.forwarded import CLAIMS, CLAIMS_PREFIXES, told_of_the_way
from gateway.core.hop_by_hop import HOP_BY_HOP, nominated
from gateway.core.kept_request import is_credential
from gateway.core.prefer import ASKING, without_asking
from gateway.core.request import HeaderPairs, Headers, Request
from gateway.core.rerouting import REPLAYABLE
from gateway.core.rule import Upstream
from gateway.core.token import (
    LeaseProof,
    authorization_is_a_token,
    parse_token,
    shows_secret,
    token_in_authorization,
)
from gateway.core.trace_context import without_trace
from gateway.core.withheld import withheld
from gateway.core.write import Write

# Some read `Fencing_Epoch` as the gateway's own: what begins so is looked at in its plain spelling.
_MAYBE_OURS = (b"fencing", b"idempotent")
_OURS = (b"fencing-", b"idempotent-replayed")

_COOKIES = frozenset((b"set-cookie", b"set-cookie2"))
_COOKIE_LENGTHS = frozenset(map(len, _COOKIES))

# `looked at`: its value may be a token, or ask for what a fenced write cannot have.
_Passage = Literal["passed", "looked at", "dropped"]

# A name is judged in a microsecond; what agents and upstreams send is a few dozen names.
_NAMES_REMEMBERED = 1000
_UPSTREAMS_REMEMBERED = 1000


class _Passing:
    """Which fields of agents reach one upstream. Each name is judged once, and remembered."""

    __slots__ = ("_withheld", "host", "known", "upstream")

    def __init__(self, upstream: Upstream, *, believed: bool, observed: bool) -> None:
        self.upstream = upstream
        self.host = upstream.origin.authority.encode("ascii")
        self._withheld = withheld(upstream, believed=believed, observed=observed)
        self.known: dict[bytes, _Passage] = {}

    def of(self, name: bytes) -> _Passage:
        known = self.known.get(name)
        if known is None:
            known = self._judge(name, plain_name(name))
            # Names come from agents, and there is no end of them.
            if len(self.known) < _NAMES_REMEMBERED:
                self.known[name] = known
        return known

    def _judge(self, name: bytes, plain: bytes) -> _Passage:
        if self._withheld.covers(plain):
            return "dropped"
        # A proxy that sets the field as it is spelled passes its own clients' other spellings on.
        if name.lower() != plain and (plain in CLAIMS or plain.startswith(CLAIMS_PREFIXES)):
            return "dropped"
        is_looked_at = plain in ASKING or plain in REPLAYABLE or is_credential(plain)
        return "looked at" if is_looked_at else "passed"


_PASSING: dict[tuple[int, bool, bool], _Passing] = {}


def _passing(upstream: Upstream, request: Request, *, observed: bool) -> _Passing:
    """By identity: comparing two upstreams costs more than judging all names."""
    believed = request.arrival is not None and request.arrival.is_trusted
    found = _PASSING.get((id(upstream), believed, observed))
    if found is None or found.upstream is not upstream:
        if len(_PASSING) >= _UPSTREAMS_REMEMBERED:
            _PASSING.clear()
        found = _Passing(upstream, believed=believed, observed=observed)
        _PASSING[id(upstream), believed, observed] = found
    return found


def request_head(
    upstream: Upstream, request: Request, *, write: Write | None, framing: bytes, unfenced: bool = False
) -> bytes:
    """The head as it is sent. What the gateway adds comes last, once, and no `Connection` line can take it away.

    `unfenced`: it is a write that is only observed and was not admitted.
    """
    observed = unfenced if write is None else write.rule.mode == "observe"
    headers, passing = request.headers, _passing(upstream, request, observed=observed)
    known, of_one_hop = passing.known, nominated(headers.all(b"connection"))
    host = headers.first(b"host") if upstream.preserve_host else None
    is_plain = _wants_plain_answer(write)
    lines = [
        f"{request.method} {forwarded_target(upstream, request)} HTTP/1.1\r\nHost: ".encode("latin-1"),
        host or passing.host,
        b"\r\n",
    ]
    for name, value in headers.pairs if request.trace is None else without_trace(headers.pairs):
        passage = known.get(name) or passing.of(name)
        if passage == "dropped" or (of_one_hop and plain_name(name) in of_one_hop):
            continue
        if passage == "looked at":
            shown = _shown(name, value, upstream, headers, None if observed else write)
            if shown is not None:
                lines += (name, b": ", shown, b"\r\n")
            continue
        if is_plain and plain_name(name) == b"accept-encoding":
            continue
        lines += (name, b": ", value, b"\r\n")
    for name, value in _added(upstream, request, write):
        lines += (name, b": ", value, b"\r\n")
    if is_plain:
        lines.append(b"Accept-Encoding: identity\r\n")
    lines += (framing, b"\r\n")
    return b"".join(lines)


def _wants_plain_answer(write: Write | None) -> bool:
    """Whether others read the answer than its caller: its outcome is looked for in it, or it is kept for repeats, which
    may come from a client that knows no coding. Where agents sign their requests, the field may be signed, too.
    """
    if write is None or write.rule.mode == "observe":
        return False
    return write.call is not None or (write.intent is not None and not write.rule.upstream.preserve_host)


def _shown(name: bytes, value: bytes, upstream: Upstream, headers: Headers, fenced: Write | None) -> bytes | None:
    """The value as the upstream sees it; None where it sees no such field."""
    plain = plain_name(name)
    if plain in ASKING:
        return value if fenced is None else without_asking(plain, value)
    if plain in REPLAYABLE:
        return value if fenced is None or fenced.intent is None else None
    return None if _is_token(name, value, upstream, headers) else value


def _is_token(name: bytes, value: bytes, upstream: Upstream, headers: Headers) -> bool:
    """Whether what is shown there to the API is the fencing token, or has the secret of the one that came with it."""
    text = value.decode("latin-1")
    if plain_name(name) == b"authorization" and authorization_is_a_token(text, upstream.any_token_from):
        return True
    return any(shows_secret(text, token) for token in _presented(upstream, headers))


def _presented(upstream: Upstream, headers: Headers) -> Iterator[str]:
    """What a request shows for a token: whatever is in the field of its own, and a lease's in `Authorization`, where
    a JWT may be the agent's key to the API."""
    own, other = headers.first(b"fencing-token"), headers.first(b"authorization")
    if own is not None:
        yield own.decode("latin-1")
    token = None if other is None else token_in_authorization(other.decode("latin-1"), upstream.any_token_from)
    if token is not None and isinstance(parse_token(token), LeaseProof):
        yield token


def _via(name: bytes, request: Request) -> HeaderPairs:
    """This hop, behind those that the request names itself (RFC 9110, section 7.6.3)."""
    version = "1.1" if request.arrival is None else request.arrival.version
    return ((b"Via", version.encode("ascii") + b" " + name),)


def _added(upstream: Upstream, request: Request, write: Write | None) -> HeaderPairs:
    added = upstream.credentials + _told_of_the_write(upstream, write)
    if request.trace is not None:
        added += request.trace.passed.fields
    if upstream.forwarded != "trusted":
        added += told_of_the_way(upstream.forwarded, request)
    return added if upstream.via is None else added + _via(upstream.via, request)


def _told_of_the_write(upstream: Upstream, write: Write | None) -> HeaderPairs:
    """What an upstream that checks by itself is told of a write: its epoch, and its intent.

    The key is a digest of tenant, resource, target and key: all tenants share one credential there, and would share
    one name space of keys.
    """
    if write is None or write.rule.mode == "observe":
        # What is only observed arrives as its caller sent it, admitted or not: an upstream that checks an epoch would
        # refuse it, and one that knows a key would see two of them.
        return ()
    fields = []
    if upstream.epoch_header is not None:
        fields.append((upstream.epoch_header, b"%d" % write.epoch))
    if upstream.native_key is not None and write.intent is not None:
        fields.append((upstream.native_key.header, write.intent.digest.encode("ascii")))
    return tuple(fields)


def forwarded_target(upstream: Upstream, request: Request) -> str:
    """The target as it came, byte for byte; without the mount where the policy strips it, behind the URL's own path.

    Nothing behind the mount adds nothing to that path: to many servers `/mcp/` is another resource than `/mcp`.
    """
    raw = request.target.raw
    if upstream.mount.strip and upstream.mount.segments:
        pieces = request.target.path[1:].split("/")[len(upstream.mount.segments) :]
        behind = "".join(f"/{piece}" for piece in pieces)
        raw = (behind if behind or upstream.base_path else "/") + raw[len(request.target.path) :]
    return upstream.base_path + raw


def without_cookies(pairs: Iterable[tuple[bytes, bytes]]) -> HeaderPairs:
    """An answer's fields without those that set cookies (RFC 6265; RFC 2965), however they are spelled."""
    return tuple(pair for pair in pairs if len(pair[0]) not in _COOKIE_LENGTHS or plain_name(pair[0]) not in _COOKIES)


def answer_headers(pairs: HeaderPairs) -> HeaderPairs:
    """The end-to-end fields of an upstream's answer: what an upstream says in the gateway's own name is dropped too."""
    kept = tuple([pair for pair in pairs if not _ends_here(pair[0])])
    if len(kept) == len(pairs):
        return kept
    of_one_hop = nominated([value for name, value in pairs if name.lower() == b"connection"])
    return tuple(pair for pair in kept if pair[0].lower() not in of_one_hop) if of_one_hop else kept


@lru_cache(_NAMES_REMEMBERED)
def _ends_here(name: bytes) -> bool:
    lower = name.lower()
    return lower in HOP_BY_HOP or (lower.startswith(_MAYBE_OURS) and plain_name(lower).startswith(_OURS))
