"""Fields by which a proxy on the way to an upstream would send one write twice, or to another API.

They pass from nobody, a trusted proxy included, which seldom keeps them from its own clients: what an upstream's proxy
is to be told is the policy's to say (`credentials`). Names as `plain_name` spells them.
"""

REROUTING = frozenset(
    (
        # Envoy's router (docs, "HTTP headers consumed") takes a retry policy from whom it believes, which is everybody
        # with a private address, unless it is configured otherwise.
        b"x-envoy-max-retries",
        b"x-envoy-hedge-on-per-try-timeout",
        b"x-envoy-original-dst-host",
        # Dapr's sidecar: the application that is called (docs, "service invocation").
        b"dapr-app-id",
        # Cloud Foundry's router: the instance that is asked, and where a route service sends a request on to.
        b"x-cf-app-instance",
        b"x-cf-process-instance",
        b"x-cf-forwarded-url",
        # Knative's own proxies: the host that was asked for.
        b"k-original-host",
        # ownCloud and older Nextclouds: a path's last segment is a part of another file.
        b"oc-chunked",
        # CGI hands it on as HTTP_PROXY, through which the program's own requests then go (CVE-2016-5385).
        b"proxy",
    )
)
REROUTING_PREFIXES = (
    # Which answers are tried again, and how long is waited for one.
    b"x-envoy-retry-",
    b"x-envoy-retriable-",
    b"x-envoy-upstream-rq-",
    # linkerd: `l5d-retry-http`, `l5d-timeout` (docs, "per-request policy"); `l5d-dst-override`, and `l5d-dtab` of 1.x.
    b"l5d-",
    # Finagle: another address for any name (`Dtab-Local`, `X-Dtab-00-A`), deadlines and retries.
    b"dtab-",
    b"x-dtab-",
    b"finagle-ctx-",
    # Knative: tag, revision and namespace (docs, "tag header based routing").
    b"knative-serving-",
    # Fly.io: the region or the machine (docs, "dynamic request routing").
    b"fly-prefer-",
    b"fly-force-",
)
# By either of them Go's transport, of which Caddy, Traefik and many ingresses are made, takes a request without a body
# for one that it may send twice (net/http, `Request.isReplayable`). Of an intent none passes but the policy's own.
REPLAYABLE = frozenset((b"idempotency-key", b"x-idempotency-key"))
