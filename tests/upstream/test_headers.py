"""Which fields pass, in both directions, and how the target is spelled."""

from base64 import b64encode
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.epoch import Epoch
from gateway.core.intent import Intent
from gateway.core.request import HeaderPairs, Headers, Request
from gateway.core.rule import Mode, Mount, NativeKey, Origin, Rule, Upstream
from gateway.core.target import Target, read_target
from gateway.core.trace import Trace
from gateway.core.trace_context import TraceContext
from gateway.core.write import ResourceKey, Write
from gateway.upstream.headers import answer_headers, forwarded_target, request_head, without_cookies

LEASE = b"42.abcdefghijklmnopqrst-_"
# The agent's own, without an epoch in it.
JWT = b"eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJlLW9mLXRoZS1hcGk"


def upstream(**fields: object) -> Upstream:
    return Upstream("u", Origin("http", "api.internal", 8080), **fields)


def request(*pairs: tuple[bytes, bytes], target: str = "/reports/7") -> Request:
    read = read_target(target)
    assert isinstance(read, Target), read
    return Request("PUT", read, Headers(pairs))


WRITE = Write(Rule("r", upstream()), ResourceKey("report/7"), Epoch(42), "a", None)
INTENT = Intent("k-1", "default", "PUT /reports/7", "digest-of-the-intent")


def forwarded(to: Upstream, *pairs: tuple[bytes, bytes], write: Write | None = WRITE) -> list[bytes]:
    head = request_head(to, request(*pairs), write=write, framing=b"Content-Length: 2\r\n")
    assert head.endswith(b"\r\nContent-Length: 2\r\n\r\n")
    return head.split(b"\r\n")[1:-3]


HOST = b"Host: api.internal:8080"


def test_end_to_end_fields_pass_as_they_came() -> None:
    """Order, spelling, repetition and bytes are kept; the host is the upstream's."""
    pairs = ((b"X-A", b"1"), (b"accept", b"\xe9"), (b"x-a", b"2"), (b"If-Match", b'"7"'), (b"Idempotency-Key", b"k"))

    assert forwarded(upstream(), *pairs, (b"Host", b"gateway")) == [HOST, *(b": ".join(pair) for pair in pairs)]


@pytest.mark.parametrize(
    "name",
    [
        *(b"Connection", b"Keep-Alive", b"Proxy-Connection", b"Proxy-Authenticate", b"Proxy-Authorization"),
        *(b"TE", b"Trailer", b"Transfer-Encoding", b"Upgrade", b"HTTP2-Settings", b"Expect", b"Content-Length"),
        *(b"Fencing-Token", b"FENCING-HOLDER", b"Fencing-Anything", b"Fencing_Token", b"Fencegate-Key"),
    ],
)
def test_hop_by_hop_fields_and_the_gateways_own_never_pass(name: bytes) -> None:
    """Neither in any case; framing is set anew."""
    assert forwarded(upstream(), (name, b"x"), (b"X-A", b"1")) == [HOST, b"X-A: 1"]


@pytest.mark.parametrize(
    ("told", "mode", "sent"),
    [
        ({"call": "1"}, "enforce", [b"Accept-Encoding: identity"]),
        ({"call": "1"}, "observe", [b"accept-encoding: br", b"Accept_Encoding: gzip"]),
        ({"intent": INTENT}, "enforce", [b"Accept-Encoding: identity"]),
        ({"intent": INTENT}, "observe", [b"accept-encoding: br", b"Accept_Encoding: gzip"]),
        ({}, "enforce", [b"accept-encoding: br", b"Accept_Encoding: gzip"]),
    ],
    ids=["a call", "a call that is observed", "an intent", "an intent that is observed", "neither"],
)
def test_an_answer_that_others_read_is_asked_for_as_it_is(told: dict[str, Any], mode: Mode, sent: list[bytes]) -> None:
    """Whatever codings its caller knows: the gateway looks into it, or the next holder repeats the write."""
    write = replace(WRITE, rule=replace(WRITE.rule, mode=mode), **told)
    pairs = (b"accept-encoding", b"br"), (b"Accept_Encoding", b"gzip")

    assert forwarded(upstream(), *pairs, write=write) == [HOST, *sent]


def test_what_an_agent_may_have_signed_stays_as_it_is() -> None:
    """Where its host is passed on, requests may be signed over any header."""
    to = upstream(preserve_host=True)
    write = replace(WRITE, rule=Rule("r", to), intent=INTENT)

    assert b"accept-encoding: br" in forwarded(to, (b"accept-encoding", b"br"), write=write)


@pytest.mark.parametrize(
    ("mode", "sent"),
    [
        ("enforce", [b"PREFER: wait=10", b"Prefer: return=minimal"]),
        ("observe", [b"PREFER: respond-async, wait=10", b"prefer: Respond-Async", b"Prefer: return=minimal"]),
        (None, [b"PREFER: respond-async, wait=10", b"prefer: Respond-Async", b"Prefer: return=minimal"]),
    ],
    ids=["fenced", "observed", "read"],
)
def test_a_fenced_write_is_not_asked_to_be_done_after_its_answer(mode: Mode | None, sent: list[bytes]) -> None:
    """What the upstream then did later would come after writes of a newer epoch."""
    write = None if mode is None else replace(WRITE, rule=replace(WRITE.rule, mode=mode))
    pairs = (b"PREFER", b"respond-async, wait=10"), (b"prefer", b"Respond-Async"), (b"Prefer", b"return=minimal")

    assert forwarded(upstream(), *pairs, write=write) == [HOST, *sent]


def test_nor_by_the_fields_of_single_servers() -> None:
    """A read, of which nothing comes later, keeps them."""
    pairs = (b"X_Arango_Async", b"store"), (b"X-Amz-Invocation-Type", b"Event")
    came = [b"X_Arango_Async: store", b"X-Amz-Invocation-Type: Event"]

    assert forwarded(upstream(), *pairs, write=WRITE) == [HOST]
    assert forwarded(upstream(), *pairs, write=None) == [HOST, *came]


def test_a_fenced_write_asks_for_no_part_of_its_answer() -> None:
    """Some servers of files look at ranges whatever the method, and refuse once the write is done."""
    pairs = (b"Range", b"bytes=99999-"), (b"IF_RANGE", b'"1"'), (b"Content-Range", b"bytes 0-1/2")

    assert forwarded(upstream(), *pairs, write=WRITE) == [HOST, b"Content-Range: bytes 0-1/2"]
    assert len(forwarded(upstream(), *pairs, write=None)) == 4


def test_a_policy_may_have_its_own_preferences() -> None:
    """They replace the agent's."""
    to = upstream(credentials=((b"Prefer", b"respond-async"),))

    assert forwarded(to, (b"prefer", b"wait=10")) == [HOST, b"Prefer: respond-async"]


def test_what_connection_names_does_not_pass() -> None:
    """Every line counts, an empty first one too."""
    pairs = ((b"Connection", b""), (b"connection", b"close, X-A ,"), (b"X-A", b"1"), (b"X-B", b"2"))

    assert forwarded(upstream(), *pairs) == [HOST, b"X-B: 2"]


def test_an_underscore_does_not_get_a_field_past_its_name() -> None:
    """CGI and its heirs read both as one: a caller could else add to the credential, the epoch or the framing."""
    to = upstream(credentials=((b"X-Api-Key", b"secret"),), epoch_header=b"X-Epoch")
    names = b"X_Api_Key", b"x-api_key", b"X_Epoch", b"Content_Length", b"Transfer_Encoding", b"X_Other"
    spoofs = tuple((name, b"999") for name in names)

    lines = forwarded(to, *spoofs, (b"Connection", b"x-other"))

    assert [line for line in lines if line.endswith(b"999")] == []


@pytest.mark.parametrize("mark", list(".!#$%&'*+^|~`"))
def test_nor_does_any_other_mark_of_a_token(mark: str) -> None:
    """PHP reads a dot as an underscore, other heirs of CGI each of these; what they confuse with nothing passes."""
    to = upstream(credentials=((b"X-Api-Key", b"secret"),), epoch_header=b"X-Epoch")
    names = ("Fencing-Token", "Fencegate-Key", "X-Epoch", "X-Api-Key", "Content-Length", "X-Forwarded-For")
    spoofs = tuple((name.replace("-", mark).encode(), b"999") for name in names)

    lines = forwarded(to, *spoofs, (f"Api{mark}Version".encode(), b"2"))

    assert lines == [HOST, f"Api{mark}Version: 2".encode(), b"X-Api-Key: secret", b"X-Epoch: 42"]


@pytest.mark.parametrize(
    "name",
    [
        *("Client-IP", "Proxy-Client-IP", "WL-Proxy-Client-IP", "X-ProxyUser-Ip", "X-Remote-Addr", "X-Host"),
        *("X-Azure-ClientIP", "X-Appengine-User-Ip", "Fly-Client-IP", "Client.IP", "X-Forward-For"),
        *("Remote-User", "REMOTE_USER", "X-Remote-User", "X-Remote-Group", "X-WEBAUTH-USER", "X-Auth-Request-Email"),
        *("X-Consumer-Username", "X-MS-Client-Principal-Name", "Client-Cert", "SSL_CLIENT_S_DN", "X-SSL-Client-Verify"),
        *("X-Forwarded-Prefix", "X-Forwarded-Path", "X-Envoy-Original-Path", "X-MS-Original-URL", "X-Replaced-Path"),
        *("X-HTTP-Host-Override", "X-Envoy-Original-Dst-Host", "X-Accel-Mapping", "X-Sendfile-Type"),
        *("X-Envoy-Retry-On", "x_envoy_max_retries", "l5d-retry-http", "Dtab-Local", "Proxy", "$WSRU"),
        *("X-Authentik-Username", "X-Userinfo", "X.Endpoint.API.UserInfo", "Impersonate-User", "Impersonate_Group"),
        *("Sudo", "SUDO", "As-User", "X-On-Behalf-Of", "Dropbox-API-Select-User", "X-Auth-CouchDB-UserName"),
    ],
)
def test_an_agent_says_nothing_of_where_it_comes_from_and_went(name: str) -> None:
    """Neither address nor user, nor another host or path: whatever a server, or the cloud before it, believes."""
    assert forwarded(upstream(), (name.encode(), b"192.0.2.1"), write=None) == [HOST]


def test_what_the_gateway_adds_cannot_be_removed_and_comes_once() -> None:
    """Credentials and the epoch replace the caller's own fields, whatever its Connection line says."""
    to = upstream(credentials=((b"Authorization", b"Bearer ours"),), epoch_header=b"X-Epoch")
    pairs = (
        (b"authorization", b"Bearer theirs"),
        (b"x-epoch", b"99"),
        (b"Connection", b"authorization, x-epoch"),
    )

    assert forwarded(to, *pairs) == [HOST, b"Authorization: Bearer ours", b"X-Epoch: 42"]
    assert forwarded(to, *pairs, write=None) == [HOST, b"Authorization: Bearer ours"]


def test_a_traced_request_names_its_own_place_once() -> None:
    """Instead of its caller's, whatever its Connection line says; untraced, all pass as they came."""
    pairs = ((b"Traceparent", b"theirs"), (b"tracestate", b"a=1"), (b"Connection", b"traceparent"), (b"Accept", b"*/*"))
    place = TraceContext("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331", 1)
    traced = replace(request(*pairs), trace=Trace(None, place, place, lambda: 0))

    head = request_head(upstream(), traced, write=WRITE, framing=b"")

    told = b"traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    assert head.split(b"\r\n")[1:-2] == [HOST, b"Accept: */*", told]
    assert forwarded(upstream(), *pairs[:2]) == [HOST, b"Traceparent: theirs", b"tracestate: a=1"]


def test_an_upstream_that_takes_keys_is_given_the_intents_own() -> None:
    """Tenants share one credential there: the agent's key is replaced by a digest that no other tenant's key has."""
    to = upstream(native_key=NativeKey(b"Idempotency-Key"))
    pair = (b"idempotency_key", b"k-1")

    told = forwarded(to, pair, write=replace(WRITE, intent=INTENT))
    assert told == [HOST, b"Idempotency-Key: digest-of-the-intent", b"Accept-Encoding: identity"]


@pytest.mark.parametrize("write", [WRITE, None], ids=["a write that is no intent", "a read"])
def test_no_agent_names_a_key_at_an_upstream_that_takes_keys(write: Write | None) -> None:
    """It could be the one that another agent's intent has there, whose answer this one would get, or spoil."""
    to = upstream(native_key=NativeKey(b"Idempotency-Key"))

    assert forwarded(to, (b"Idempotency-Key", b"digest-of-the-intent"), write=write) == [HOST]


@pytest.mark.parametrize("native", [None, NativeKey(b"X-Reference")], ids=["no capability", "another header"])
@pytest.mark.parametrize("name", [b"Idempotency-Key", b"idempotency_key", b"X-Idempotency-Key", b"X_Idempotency_Key"])
def test_no_proxy_is_told_that_an_intent_may_be_sent_twice(name: bytes, native: NativeKey | None) -> None:
    """Go's transport repeats a request without a body that has one of these, where its connection was lost."""
    to = upstream(native_key=native)

    assert not [line for line in forwarded(to, (name, b"k-1"), write=replace(WRITE, intent=INTENT)) if b"k-1" in line]
    assert forwarded(to, (name, b"k-1"), write=None) == [HOST, name + b": k-1"]


@pytest.mark.parametrize("admitted", [True, False], ids=["admitted", "not admitted"])
def test_an_observed_write_arrives_with_its_agents_own_key_and_epoch(admitted: bool) -> None:
    """Without them the same key twice would be two actions; what is the gateway's own never passes."""
    to = upstream(native_key=NativeKey(b"Idempotency-Key"), epoch_header=b"X-Epoch", credentials=((b"X-Api", b"ours"),))
    write = replace(WRITE, rule=replace(WRITE.rule, upstream=to, mode="observe"), intent=INTENT) if admitted else None
    own = ((b"Idempotency-Key", b"order-17"), (b"X-Epoch", b"7"))
    sent = request(*own, (b"X-Api", b"theirs"), (b"Fencing-Token", b"42"), (b"Fencegate-Key", b"k"))

    head = request_head(to, sent, write=write, framing=b"", unfenced=not admitted)

    assert head.split(b"\r\n")[1:-2] == [HOST, *(b": ".join(pair) for pair in own), b"X-Api: ours"]


@pytest.mark.parametrize(
    ("value", "passes"),
    [(b"Bearer " + LEASE, False), (b"Bearer 42", True), (b"Bearer api-key", True)],
    ids=["a lease token", "a bare epoch that no rule takes from here", "an API key"],
)
def test_a_token_in_authorization_does_not_pass(value: bytes, passes: bool) -> None:
    """The agent's credential passes, its fencing token never."""
    expected = [HOST, b"Authorization: " + value] if passes else [HOST]

    assert forwarded(upstream(), (b"Authorization", value)) == expected


@pytest.mark.parametrize(
    ("name", "value", "passes"),
    [
        (b"Authorization", b"Bearer x." + LEASE, False),
        (b"X-Api-Key", LEASE, False),
        (b"Cookie", b"a=1; t=" + LEASE, False),
        (b"X.Authorization", LEASE, False),
        (b"X-Auth-Token", LEASE, False),
        (b"PRIVATE-TOKEN", LEASE, False),
        (b"X-Amz-Security-Token", LEASE, False),
        (b"X-Session", LEASE, False),
        (b"X-Api-Key", b"of-the-api", True),
        (b"Cookie", b"a=1", True),
        (b"Idempotency-Key", b"order-17", True),
    ],
    ids=[
        *("in disguise", "as an API key", "in a cookie", "under another spelling"),
        *("of OpenStack", "of GitLab", "of AWS", "of a session", "the API's key", "another cookie"),
        "the key of an action",
    ],
)
def test_the_token_does_not_pass_as_a_credential_beside_itself(name: bytes, value: bytes, passes: bool) -> None:
    """A client that shows it twice shows it to the gateway alone; without it, the same field is the API's."""
    pair = (name, value)

    assert forwarded(upstream(), pair, (b"Fencing-Token", LEASE)) == ([HOST, b": ".join(pair)] if passes else [HOST])
    assert forwarded(upstream(), pair, (b"Fencing-Token", b"42")) == [HOST, b": ".join(pair)]


@pytest.mark.parametrize(
    ("shown", "passes"),
    [
        *((b"Basic " + b64encode(b"agent:" + LEASE), False), (b"Bearer " + LEASE, False), (b"token " + LEASE, False)),
        *((b"Bearer " + JWT, True), (b"Basic " + b64encode(b"agent:" + JWT), True), (b"Bearer of-the-api", True)),
    ],
)
def test_nor_does_one_that_stands_in_authorization(shown: bytes, passes: bool) -> None:
    """Where tokens are taken from there; clients of many APIs repeat it. A JWT there may be the API's key."""
    to = upstream(any_token_from=("fencing-token", "bearer", "basic"))
    value = shown.rpartition(b" ")[2] if passes else LEASE
    pairs = (b"X-Api-Key", value), (b"Cookie", b"t=" + value.partition(b".")[2])
    kept = [b": ".join(pair) for pair in pairs] if passes else []

    assert forwarded(to, (b"Authorization", shown), *pairs) == [
        HOST,
        *([b"Authorization: " + shown] if passes else []),
        *kept,
    ]


def test_the_callers_host_passes_where_the_policy_keeps_it() -> None:
    """`preserve_host` sends it; without one the upstream's own stands."""
    assert forwarded(upstream(preserve_host=True), (b"Host", b"shop.example")) == [b"Host: shop.example"]
    assert forwarded(upstream(preserve_host=True)) == [HOST]


@pytest.mark.parametrize(
    ("fields", "target", "sent"),
    [
        ({}, "/a%3Ab/%41?b=2&a=1&q=a%20b+c%2B", "/a%3Ab/%41?b=2&a=1&q=a%20b+c%2B"),
        ({"base_path": "/v1"}, "/reports/7?x", "/v1/reports/7?x"),
        ({"mount": Mount(("api",))}, "/api/7", "/api/7"),
        ({"mount": Mount(("api",), strip=True)}, "/api/7%2F8?x=/api", "/7%2F8?x=/api"),
        ({"mount": Mount(("a", "b"), strip=True), "base_path": "/v1"}, "/a/b/", "/v1/"),
        ({"mount": Mount(("a", "b"), strip=True), "base_path": "/v1"}, "/a/b?x=1", "/v1?x=1"),
        ({"mount": Mount(("a", "b"), strip=True), "base_path": "/v1"}, "/a/b/7", "/v1/7"),
        ({"mount": Mount(("api",), strip=True)}, "/api", "/"),
        ({"mount": Mount(strip=True)}, "/reports", "/reports"),
    ],
    ids=[
        *("as it came", "base path", "mount kept", "mount stripped", "both, with a slash", "both", "both, and more"),
        *("nothing left", "mounted at the root"),
    ],
)
def test_the_target_is_forwarded_byte_for_byte(fields: dict[str, object], target: str, sent: str) -> None:
    """But for the mount that is stripped and the URL's own path before it."""
    assert forwarded_target(upstream(**fields), request(target=target)) == sent


@pytest.mark.parametrize(
    ("pairs", "kept"),
    [
        (((b"ETag", b'"7"'), (b"Set-Cookie", b"a"), (b"set-cookie", b"b")), (0, 1, 2)),
        (((b"Connection", b"X-A"), (b"X-A", b"1"), (b"X-B", b"2"), (b"Keep-Alive", b"5")), (2,)),
        (((b"Fencing-Decision", b"passed"), (b"Idempotent-Replayed", b"true"), (b"Content-Length", b"2")), (2,)),
        (((b"Transfer-Encoding", b"chunked"), (b"Content-Encoding", b"gzip")), (1,)),
    ],
    ids=["end to end", "hop by hop", "in the gateway's name", "framing"],
)
def test_an_answers_fields_pass_end_to_end(pairs: HeaderPairs, kept: tuple[int, ...]) -> None:
    """An upstream cannot speak in the gateway's name."""
    assert answer_headers(pairs) == tuple(pairs[at] for at in kept)


def test_a_field_that_sets_a_cookie_is_told_by_its_name() -> None:
    """In any case and spelling; others that look like it are other fields."""
    cookies = tuple((name, b"a=1") for name in (b"Set-Cookie", b"SET-COOKIE2", b"set_cookie"))
    others = tuple((name, b"a=1") for name in (b"Cookie", b"X-Set-Cookie", b"Set-Cookie3", b"Set-Login", b"Set-Cache1"))

    assert without_cookies([*cookies, *others]) == others
