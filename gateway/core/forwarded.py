"""`X-Forwarded-*` and `Forwarded` (RFC 7239): whom a request was sent for, as far as that is believed; and what proxies
say beside it of who that is, and of where the request was sent to before they rewrote it.

Anybody can write them: what a peer says counts only if it is a trusted proxy, and only in the form that the upstream is
sent, because a proxy that keeps one form in order often lets the other one through from its own clients.
"""

import re

from gateway.core.arrival import Arrival, TrustedProxies, plain_address
from gateway.core.request import HeaderPairs, Headers, Request
from gateway.core.rule import Forwarded

# What servers and frameworks take for the client's address or name, its user, or the host and path that it asked for.
CLAIMS = frozenset(
    (
        b"forwarded",
        b"forwarded-for",
        b"client-ip",
        b"proxy-client-ip",
        b"x-real-ip",
        b"x-client-ip",
        b"x-cluster-client-ip",
        b"x-proxyuser-ip",
        b"x-remote-addr",
        b"x-remote-ip",
        b"x-originating-ip",
        b"x-host",
        b"x-original-forwarded-for",
        b"x-original-for",
        b"x-original-host",
        b"x-original-uri",
        b"x-original-proto",
        b"true-client-ip",
        b"cf-connecting-ip",
        b"cf-connecting-ipv6",
        b"fastly-client-ip",
        b"fly-client-ip",
        b"x-azure-clientip",
        b"x-azure-socketip",
        # Another host or path: of Azure, Traefik and others, and of an accelerator that sends files itself (Rack).
        b"x-http-host-override",
        b"x-host-override",
        b"disguised-host",
        b"x-waws-unencoded-url",
        b"x-ms-original-url",
        b"x-replaced-path",
        b"x-ingress-path",
        b"x-sendfile-type",
        # Another user: what a server believes of a proxy that has asked who it is.
        b"remote-addr",
        b"remote-user",
        b"remote-name",
        b"remote-email",
        b"remote-groups",
        b"proxy-user",
        b"x-proxy-user",
        b"x-proxy-remote-user",
        b"x-credential-identifier",
        b"x-anonymous-consumer",
        b"cf-access-authenticated-user-email",
        b"iv-user",
        b"iv-groups",
        b"iv-creds",
        b"x-userinfo",
        b"x-endpoint-api-userinfo",
        b"x-apigateway-api-userinfo",
        b"x-pomerium-jwt-assertion",
        # GitLab: whoever has an administrator's token, as the gateway's credential may be, is this user.
        b"sudo",
        # So in Redmine, Elasticsearch, Dynamics, Box, DocuSign, Gerrit, Zendesk, Discourse, Trino and Presto.
        b"x-redmine-switch-user",
        b"es-security-runas-user",
        b"mscrmcallerid",
        b"callerobjectid",
        b"as-user",
        b"x-docusign-act-as-user",
        b"x-gerrit-runas",
        b"x-on-behalf-of",
        b"x-zendesk-on-behalf-of",
        b"api-username",
        b"x-trino-user",
        b"x-presto-user",
        b"x-impersonate-user",
        # Another client certificate (RFC 9440, and what came before it).
        b"client-cert",
        b"client-cert-chain",
        b"x-client-cert",
    )
)
# What begins with one of these is of the same kind, whatever follows.
CLAIMS_PREFIXES = (
    b"x-forwarded",
    b"x-forward-",
    # Envoy's own, which it drops itself where it takes a caller for an external one (docs, "header sanitizing").
    b"x-envoy-",
    # nginx takes them in answers only, but Rack reads `X-Accel-Mapping` in a request.
    b"x-accel-",
    b"x-cf-",
    b"fly-replay-",
    b"x-remote-",
    b"x-webauth-",
    b"x-auth-request-",
    b"x-authenticated-",
    b"x-authentik-",
    b"x-pomerium-claim-",
    b"x-vouch-",
    # Kubernetes: whoever may impersonate, as the gateway's credential may, is this user for one request.
    b"impersonate-",
    # Dropbox: another member of a team, or its administrator.
    b"dropbox-api-select-",
    # CouchDB, where a proxy tells it who asks.
    b"x-auth-couchdb-",
    # Hasura: the role and the user, beside its admin secret.
    b"x-hasura-",
    # Next.js: what its own middleware has seen to already (CVE-2025-29927).
    b"x-middleware-",
    b"x-consumer-",
    b"x-goog-authenticated-user-",
    b"x-ms-client-principal",
    b"x-ms-token-",
    # IIS and its proxy module (ARR), which hand on a certificate and a Windows user.
    b"x-arr-",
    b"ms-aspnetcore-",
    # App Engine: a user, and that a request is its own scheduler's or queue's.
    b"x-appengine-",
    # WebLogic's plug-in, and WebSphere's (`$WSRU`, the user; `$WSCC`, the certificate).
    b"wl-proxy-",
    b"-ws",
    b"x-amzn-oidc-",
    b"x-amzn-mtls-",
    b"tailscale-user-",
    b"ssl-client-",
    b"x-ssl-client-",
    b"x-tls-client-",
)
# Of these an upstream that wants one of the forms gets what stands here, whoever said something else.
REPLACED = frozenset((b"forwarded", b"x-forwarded-for", b"x-forwarded-proto", b"x-forwarded-host"))

# As RFC 7239, section 6, writes a node with a port; in `X-Forwarded-For` some proxies add one to a bare IPv4 address.
_NODE = re.compile(r"\[(?P<six>[^\]]*)\](?::[0-9]+)?|(?P<four>[0-9.]+)(?::[0-9]+)?|(?P<bare>.*)")
# Nobody has so many proxies of his own; whoever lists a thousand wants them to be looked at.
_MOST_HOPS = 32
_TOKEN = re.compile(rb"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
# Every quoted string in it is closed: what is added behind it is an element of its own.
_CLOSED = re.compile(rb'[^"]*(?:"(?:[^"\\]|\\.)*"[^"]*)*')


def told_of_the_way(form: Forwarded, request: Request) -> HeaderPairs:
    """What a trusted proxy said, continued with that proxy itself; of anybody else its own address alone."""
    arrival = request.arrival
    if arrival is None or form == "trusted":
        return ()
    host = request.headers.first(b"host") or b""
    if form == "rfc7239":
        # A trusted proxy may have continued what its own client left open.
        before = [value for value in _believed(request, b"forwarded") if _CLOSED.fullmatch(value)]
        return ((b"Forwarded", b", ".join((*before, _element(arrival, host)))),)
    before = _believed(request, b"x-forwarded-for")
    scheme = _believed(request, b"x-forwarded-proto") or [arrival.scheme.encode("ascii")]
    hosts = _believed(request, b"x-forwarded-host") or [host]
    fields = [
        (b"X-Forwarded-For", b", ".join((*before, arrival.address.encode("ascii")))),
        (b"X-Forwarded-Proto", b", ".join(scheme)),
    ]
    return (*fields, (b"X-Forwarded-Host", b", ".join(hosts))) if hosts[0] else tuple(fields)


def client_address(arrival: Arrival, headers: Headers, proxies: TrustedProxies) -> str:
    """The first hop, from this end, that is no trusted proxy: what stands before it may be its invention.

    A hop that named no address (`unknown`, `_hidden`) is the last one that is known.
    """
    client = arrival.address
    if not arrival.is_trusted:
        return client
    nodes = b",".join(headers.all(b"x-forwarded-for")).rsplit(b",", _MOST_HOPS)
    for node in reversed(nodes[-_MOST_HOPS:]):
        address = _address(node.strip().decode("latin-1"))
        if address is None:
            break
        client = address
        if not proxies.trust(address):
            break
    return client


def _believed(request: Request, name: bytes) -> list[bytes]:
    """The values of a field that a trusted proxy sent, without empty ones."""
    assert request.arrival is not None
    if not request.arrival.is_trusted:
        return []
    return [value for value in request.headers.all(name) if value]


def _element(arrival: Arrival, host: bytes) -> bytes:
    """One hop of `Forwarded`. Host has been found to be an authority: nothing in it ends a quoted string."""
    node = f'"[{arrival.address}]"' if ":" in arrival.address else arrival.address
    named = b""
    if host:
        named = b";host=" + (host if _TOKEN.fullmatch(host) else b'"%b"' % host)
    return f"for={node};proto={arrival.scheme}".encode("ascii") + named


def _address(node: str) -> str | None:
    found = _NODE.fullmatch(node)
    return None if found is None else plain_address(found["six"] or found["four"] or found["bare"])
