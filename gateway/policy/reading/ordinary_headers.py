"""Header fields that clients, libraries and proxies send by themselves, whatever the request is to say.

Of names that begin alike not all are such: WordPress takes a file's name from `Content-Disposition`, and any
`Content-Owner` or `If-Purge` may be somebody's field.
"""

from gateway.core.hop_by_hop import HOP_BY_HOP

# Some compare them once they have acted, as nginx does for Lua (RFC 9110, section 13.2.1, wants it before).
CONDITIONS = frozenset((b"if-match", b"if-modified-since", b"if-none-match", b"if-unmodified-since"))
# They reach the API with a request whose headers are listed: it cannot do without them, or checks them.
NEEDED = HOP_BY_HOP | frozenset(
    (
        b"accept",
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
        b"expect",
        b"host",
        b"idempotency-key",
        b"if-match",
        b"if-modified-since",
        b"if-none-match",
        b"if-unmodified-since",
        # By these a server tells whether a page of its own has asked.
        b"origin",
        b"referer",
        b"sec-fetch-dest",
        b"sec-fetch-mode",
        b"sec-fetch-site",
        b"sec-fetch-user",
        b"sec-websocket-extensions",
        b"sec-websocket-key",
        b"sec-websocket-protocol",
        b"sec-websocket-version",
        b"user-agent",
        # Traces; the later ones are what older or a vendor's tracing puts into each request, or proxies do.
        b"traceparent",
        b"tracestate",
        b"b3",
        b"elastic-apm-traceparent",
        b"newrelic",
        b"sentry-trace",
        b"uber-trace-id",
        b"x-amzn-trace-id",
        b"x-b3-flags",
        b"x-b3-parentspanid",
        b"x-b3-sampled",
        b"x-b3-spanid",
        b"x-b3-traceid",
        b"x-cloud-trace-context",
        b"x-correlation-id",
        b"x-datadog-origin",
        b"x-datadog-parent-id",
        b"x-datadog-sampling-priority",
        b"x-datadog-tags",
        b"x-datadog-trace-id",
        b"x-request-id",
    )
)
# They say nothing of a write that it could not do without: caches and proxies on the way read them, or nobody does.
IDLE = frozenset(
    (
        b"baggage",
        b"cache-control",
        b"cdn-loop",
        b"cf-ray",
        b"correlation-context",
        b"dnt",
        b"early-data",
        b"max-forwards",
        b"pragma",
        b"priority",
        # Of .NET's older tracing; a form may well have such a field.
        b"request-id",
        b"save-data",
        b"sec-gpc",
        b"sec-purpose",
        b"upgrade-insecure-requests",
        b"via",
        # Of what stands in front of services in a cloud, of tracing, and of newer browsers.
        b"alt-used",
        b"cf-ew-via",
        b"cf-ipcountry",
        b"cf-visitor",
        b"cf-worker",
        b"fly-region",
        b"fly-request-id",
        b"grpc-trace-bin",
        b"postman-token",
        b"request-context",
        b"sec-browsing-topics",
        b"sec-fetch-storage-access",
        b"sec-speculation-tags",
        b"traceresponse",
        b"was-default-hostname",
        b"x-akamai-edgescape",
        b"x-amz-cf-id",
        b"x-appgw-trace-id",
        b"x-arr-log-id",
        b"x-arr-ssl",
        b"x-azure-ref",
        b"x-goog-api-client",
        b"x-ms-client-request-id",
        b"x-ms-useragent",
        b"x-newrelic-id",
        b"x-newrelic-transaction",
        b"x-ot-span-context",
        b"x-queue-start",
        b"x-request-start",
        b"x-scheme",
        b"x-site-deployment-id",
        b"x-vercel-id",
    )
)
# Browsers tell of themselves in them, clouds of the caller, tracing of a call, generated clients of their making.
IDLE_BEGINNINGS = (
    b"attribution-reporting-",
    b"cloudfront-",
    b"ot-tracer-",
    b"sec-ch-",
    b"x-dynatrace",
    b"x-instana-",
    b"x-stainless-",
)
# MCP, transports: each message of a session has them.
OF_MCP = frozenset(
    (b"accept", b"last-event-id", b"mcp-method", b"mcp-name", b"mcp-protocol-version", b"mcp-session-id")
)


def is_needed(name: bytes) -> bool:
    """Whether a field (lower case, as it is spelled) is there in requests that want nothing by it, and must arrive."""
    return name in NEEDED


def is_idle(name: bytes) -> bool:
    """Whether it is there in such requests, and none of them is another one without it."""
    return name in IDLE or name.startswith(IDLE_BEGINNINGS)
