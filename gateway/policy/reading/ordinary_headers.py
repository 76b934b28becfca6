"""Header fields that clients, libraries and proxies send by themselves, whatever the request is to say."""

from gateway.core.hop_by_hop import HOP_BY_HOP

ORDINARY = HOP_BY_HOP | frozenset(
    (
        b"accept",
        b"baggage",
        b"cache-control",
        b"date",
        b"dnt",
        b"early-data",
        b"expect",
        b"from",
        b"host",
        b"idempotency-key",
        b"max-forwards",
        b"origin",
        b"pragma",
        b"priority",
        b"referer",
        b"save-data",
        b"traceparent",
        b"tracestate",
        b"upgrade-insecure-requests",
        b"user-agent",
        b"via",
        b"warning",
    )
)
# Of names that begin alike not all are such: WordPress takes a file's name from `Content-Disposition`, and any
# `Content-Owner` or `If-Purge` may be somebody's field.
_MORE = frozenset(
    (
        b"accept-charset",
        b"accept-encoding",
        b"accept-language",
        # What the agent shows for itself; who puts keys into other fields lists them.
        b"authorization",
        b"content-digest",
        b"content-encoding",
        b"content-length",
        b"content-md5",
        b"content-type",
        b"digest",
        b"if-match",
        b"if-modified-since",
        b"if-none-match",
        b"if-unmodified-since",
        b"sec-gpc",
        b"sec-purpose",
        # What older tracing puts into each request, and proxies where nobody else has.
        b"b3",
        b"cdn-loop",
        b"x-amzn-trace-id",
        b"x-b3-flags",
        b"x-b3-parentspanid",
        b"x-b3-sampled",
        b"x-b3-spanid",
        b"x-b3-traceid",
        b"x-cloud-trace-context",
        b"x-correlation-id",
        b"x-request-id",
    )
)
# Browsers set them, and no page can.
_BEGINNINGS = (b"sec-ch-", b"sec-fetch-", b"sec-websocket-")
# MCP, transports: each message of a session has them.
OF_MCP = frozenset((b"last-event-id", b"mcp-method", b"mcp-name", b"mcp-protocol-version", b"mcp-session-id"))


def is_sent_unasked(name: bytes) -> bool:
    """Whether a field (lower case, as it is spelled) is there in requests that want nothing by it."""
    return name in ORDINARY or name in _MORE or name.startswith(_BEGINNINGS)
