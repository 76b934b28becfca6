"""Which header fields pass: hop-by-hop ones never, in neither direction; the gateway's own never reach an upstream."""

from gateway.core.caller import is_control_header
from gateway.core.request import HeaderPairs, Headers, Request
from gateway.core.rule import Upstream
from gateway.core.token import authorization_is_a_token
from gateway.core.write import Write

# RFC 9110, section 7.6.1, and what older software sends.
_HOP_BY_HOP = frozenset(
    (
        b"connection",
        b"keep-alive",
        b"proxy-connection",
        b"proxy-authenticate",
        b"proxy-authorization",
        b"te",
        b"trailer",
        b"transfer-encoding",
        b"upgrade",
        b"http2-settings",
    )
)
# `Expect` is answered here; `Host` and the framing are set anew.
_NOT_FORWARDED = _HOP_BY_HOP | {b"host", b"content-length", b"expect"}


def _nominated(connection: list[bytes]) -> frozenset[bytes]:
    """The fields that `Connection` lines name as hop-by-hop (RFC 9110, section 7.6.1). Every line counts."""
    if not connection:
        return frozenset()
    return frozenset(_plain(token.strip()) for line in connection for token in line.split(b","))


def _plain(name: bytes) -> bytes:
    """A field's name as CGI and its heirs read it: they make no difference between an underscore and a dash."""
    return name.lower().replace(b"_", b"-")


def request_head(upstream: Upstream, request: Request, *, write: Write | None, framing: bytes) -> bytes:
    """The head as it is sent. What the gateway adds comes last, once, and no `Connection` line can take it away."""
    headers = request.headers
    added = (*upstream.credentials, *_added(upstream, write))
    own = {_plain(name) for name, _ in added}
    if upstream.epoch_header is not None:
        own.add(_plain(upstream.epoch_header))
    if upstream.native_key is not None:
        # Never an agent's own word there: it could be the name that another tenant's intent has.
        own.add(_plain(upstream.native_key.header))
    dropped = _NOT_FORWARDED | _nominated(headers.all(b"connection")) | own
    host = headers.first(b"host") if upstream.preserve_host else None
    lines = [
        f"{request.method} {forwarded_target(upstream, request)} HTTP/1.1\r\nHost: ".encode("latin-1"),
        host or upstream.origin.authority.encode("idna" if not upstream.origin.authority.isascii() else "ascii"),
        b"\r\n",
    ]
    for name, value in headers.pairs:
        lower = _plain(name)
        if lower in dropped or is_control_header(lower):
            continue
        if lower == b"authorization" and authorization_is_a_token(value.decode("latin-1"), upstream.any_token_from):
            continue
        lines += (name, b": ", value, b"\r\n")
    for name, value in added:
        lines += (name, b": ", value, b"\r\n")
    lines += (framing, b"\r\n")
    return b"".join(lines)


def _added(upstream: Upstream, write: Write | None) -> HeaderPairs:
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
    """The target as it came, byte for byte; without the mount where the policy strips it, behind the URL's own path."""
    raw = request.target.raw
    if upstream.mount.strip and upstream.mount.segments:
        pieces = request.target.path[1:].split("/")[len(upstream.mount.segments) :]
        raw = "/" + "/".join(pieces) + raw[len(request.target.path) :]
    return upstream.base_path + raw


def answer_headers(pairs: HeaderPairs) -> HeaderPairs:
    """The end-to-end fields of an upstream's answer: what an upstream says in the gateway's own name is dropped too."""
    dropped = _HOP_BY_HOP
    if any(name.lower() == b"connection" for name, _ in pairs):
        dropped = dropped | _nominated(Headers(pairs).all(b"connection"))
    kept = []
    for pair in pairs:
        lower = pair[0].lower()
        if lower not in dropped and not lower.startswith(b"fencing-") and lower != b"idempotent-replayed":
            kept.append(pair)
    return tuple(kept)
