"""A closed list of headers: what says more than those that are sent unasked has to be on it."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.policy.match import Matched, Read
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
credentials: [{header: X-Api-Key, value: "key"}]
capabilities: {idempotency_key: X-Native-Key, fencing_token: X-Epoch}
read_only:
  - {match: POST /r, when: {header: {x-dry: "1"}}, only: {header: []}}
writes:
  - {name: open, match: "PUT /o/{id}", resource: "o/{path.id}", only: {query: []}}
  - {name: none, match: "PUT /n/{id}", resource: "n/{path.id}", only: {header: []}}
  - name: some
    match: PUT /s/{id}
    resource: s/{header.x-tenant}/{path.id}
    when: {header: {x-kind: a}}
    intent: {mode: optional, key: ["{header.x-key}"]}
    only: {header: [X-Trace, Cookie]}
"""
UNASKED = [
    *("Host", "User-Agent", "Accept-Charset", "Accept-Encoding", "Accept-Language", "Connection", "Keep-Alive", "TE"),
    *("Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Expect", "Origin"),
    *("Authorization", "Idempotency-Key", "Traceparent", "Tracestate", "B3", "X-Request-Id"),
    *("X-Datadog-Trace-Id", "Sentry-Trace", "Uber-Trace-Id", "Newrelic", "Elastic-APM-Traceparent"),
    *("Sec-Fetch-Mode", "Sec-WebSocket-Key"),
]
IDLE = [
    *("Via", "Cache-Control", "Pragma", "Priority", "DNT", "Max-Forwards", "Baggage", "Sec-CH-UA", "SEC-CH-Any"),
    *("Save-Data", "Early-Data", "Upgrade-Insecure-Requests", "Sec-GPC", "Sec-Purpose", "CDN-Loop"),
    *("Request-Id", "Correlation-Context", "CF-Ray", "X-Stainless-Lang", "X-Scheme", "X-Amz-Cf-Id", "X-Vercel-Id"),
    *(
        "X-Instana-T",
        "Request-Context",
        "Ot-Tracer-Traceid",
        "X-Dynatrace",
        "CloudFront-Viewer-Country",
        "Referer",
        "Sec-Fetch-Storage-Access",
    ),
]
DROPPED = [
    *("Fencing-Token", "Fencing_Token", "Fencing-Whatever", "Fencegate-Key", "X-Forwarded-For", "X_Forwarded_For"),
    *("X-Real-IP", "Sudo", "X-Api-Key", "X_Api_Key", "X-Native-Key", "X-Epoch", "X-Envoy-Retry-On"),
]
SAYING = [
    *("Cookie", "X-Purge", "Is-Purge", "Content-Disposition", "Content-Owner", "If-Purge", "Accept-Purge", "Sec-Purge"),
    *("Date", "From", "Warning", "Digest", "Sec-Fetch-Any", "X-Datadog-Any", "Via.", "Max_Forwards", "Sec_CH-UA"),
    *("If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"),
    *("Prefer", "Range", "X-Token", "User_Agent", "Content_Type", "Idempotency_Key", "Accept.", "Dry", "X-Dry"),
]


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("headers"), HEAD + POLICY)


@pytest.mark.parametrize("header", [*UNASKED, *IDLE, *DROPPED])
def test_what_wants_nothing_need_not_be_listed(ruleset: RuleSet, header: str) -> None:
    """What clients and proxies send by themselves, and what never reaches the API, in any spelling."""
    assert name_of(ruleset.match(request("PUT", "/n/7", (header, "1")), Caller())) == "none"


@pytest.mark.parametrize(
    ("header", "arrives"), [*((name, True) for name in UNASKED), *((name, False) for name in IDLE)]
)
def test_what_means_nothing_to_the_api_does_not_reach_it(ruleset: RuleSet, header: str, arrives: bool) -> None:
    """A browser's `Priority` or a proxy's `Via` is no field of a form, which Spring would make of it."""
    asked = request("PUT", "/n/7", (header, "8"), ("X-Api-Key", "k"), (header.lower(), "9"))
    found = ruleset.match(asked, Caller())

    assert isinstance(found, Matched) and found.entry.only is not None
    sent = found.entry.only.sent(asked)
    assert [name.lower() for name in sent.headers.names()] == [
        name for name in asked.headers.names() if arrives or name != header.lower().encode()
    ]
    assert len(sent.headers.pairs) == (3 if arrives else 1)


def test_what_is_listed_arrives(tmp_path_factory: pytest.TempPathFactory) -> None:
    """So does everything where headers are not listed."""
    policy = 'writes:\n  - {name: a, match: "PUT /a", resource: a, only: {query: [], header: [Via]}}\n'
    open_ = '  - {name: b, match: "PUT /b", resource: b, only: {query: []}}\n'
    ruleset = rules(tmp_path_factory.mktemp("via"), HEAD + policy + open_)

    for path, told in (("/a", {b"via"}), ("/b", {b"via", b"priority"})):
        asked = request("PUT", path, ("Via", "1.1 a"), ("Priority", "u=1"))
        found = ruleset.match(asked, Caller())
        assert isinstance(found, Matched) and found.entry.only is not None
        assert set(found.entry.only.sent(asked).headers.names()) == told


JSON = b"application/json"


@pytest.mark.parametrize(
    ("accept", "sent"),
    [
        *((value, value) for value in ("*/*", "application/json", "Application/JSON", "application/vnd.api+json")),
        *((value, value) for value in ("application/json; charset=utf-8", 'application/vnd.api+json; ext="a b"')),
        *((value, value) for value in ("application/json, text/plain, */*;q=0.5", "application/json, application/*")),
        ("application/json, text/javascript, */*; q=0.01", None),
        ("application/graphql-response+json, application/json;q=0.9, text/event-stream, multipart/mixed", None),
        *((value, JSON.decode()) for value in ("text/html", "text/html, application/json", "image/png", "x", "", "*")),
        *((value, JSON.decode()) for value in ("application/json;q=0.1", "application/json, x", "application/json,")),
        *((value, JSON.decode()) for value in ("application/xml", "*/*, x", "json", "application/json\0")),
        *((value, JSON.decode()) for value in ("application/json, text/html;level=1", "application/x+json, text/html")),
        *((value, JSON.decode()) for value in ("application/json, */*;version=2", "application/json, text/plain;v=1")),
        ('application/x+json;a=", text/html,"', JSON.decode()),
        ('application/x+json;a="; ,text/html;q=1,"', JSON.decode()),
    ],
)
def test_what_an_agent_would_like_does_not_decide_what_runs_behind_the_deed(
    ruleset: RuleSet, accept: str, sent: str | None
) -> None:
    """Frameworks look for a form, draw a page or refuse a field once they have saved. Who asks for JSON first, or for
    anything, gets what the API answers."""
    asked = request("PUT", "/n/7", ("Accept", accept))
    found = ruleset.match(asked, Caller())

    assert isinstance(found, Matched) and found.entry.only is not None
    assert found.entry.only.sent(asked).headers.all(b"accept") == [(sent or accept).encode()]


def test_two_fields_are_looked_at_both(ruleset: RuleSet) -> None:
    """As servers join them."""
    for values, sent in ((("*/*", "application/json"), None), (("*/*", "text/html"), [JSON])):
        asked = request("PUT", "/n/7", *(("Accept", value) for value in values))
        found = ruleset.match(asked, Caller())
        assert isinstance(found, Matched) and found.entry.only is not None
        assert found.entry.only.sent(asked).headers.all(b"accept") == (sent or [value.encode() for value in values])


@pytest.mark.parametrize(
    ("method", "target", "policy"),
    [
        ("POST", "/r", 'read_only:\n  - {match: POST /r, when: {header: {x: "1"}}, only: {header: []}}\n'),
        ("PUT", "/a", "writes:\n  - {name: a, match: PUT /a, resource: a, only: {header: [Accept]}}\n"),
        ("PUT", "/a", "writes:\n  - {name: a, match: PUT /a, resource: a, mode: observe, only: {header: []}}\n"),
        ("PUT", "/a", "writes:\n  - {name: a, match: PUT /a, resource: a, only: {query: []}}\n"),
    ],
    ids=["a read", "listed", "observed", "headers are not listed"],
)
def test_elsewhere_it_arrives(tmp_path: Path, method: str, target: str, policy: str) -> None:
    """Nothing is done behind a read, and who lists a field has looked at it."""
    asked = request(method, target, ("Accept", "text/html"), ("X", "1"))
    asked = asked if method == "POST" else request(method, target, ("Accept", "text/html"))
    found = rules(tmp_path, HEAD + policy).match(asked, Caller())

    assert isinstance(found, Matched | Read)
    only = found.only if isinstance(found, Read) else found.entry.only
    sent = asked if only is None else only.sent(asked)
    assert sent.headers.all(b"accept") == [b"text/html"]


@pytest.mark.parametrize("header", ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"])
def test_conditions_reach_an_api_that_compares_them(tmp_path: Path, header: str) -> None:
    """Others may look at them once they have acted."""
    rule = "writes:\n  - {name: a, match: PUT /a, resource: a, only: {header: []}}\n"
    for conditional, told in (("true", "a"), ("false", "no-policy")):
        policy = f"{HEAD}capabilities: {{conditional: {conditional}}}\n{rule}"
        assert name_of(rules(tmp_path, policy).match(request("PUT", "/a", (header, '"1"')), Caller())) == told


@pytest.mark.parametrize("header", SAYING)
def test_what_else_is_there_has_to_be_listed(ruleset: RuleSet, header: str) -> None:
    """Spring binds any header to a field of its name; one that is only spelled as a usual one is another."""
    found = ruleset.match(request("PUT", "/n/7", (header, "1")), Caller())

    assert name_of(found) == "no-policy"
    assert isinstance(found, Refused)
    assert f"header '{header.lower()}' is there" in found.detail


@pytest.mark.parametrize("header", [*UNASKED, *SAYING])
def test_where_none_is_listed_any_may_be_there(ruleset: RuleSet, header: str) -> None:
    """Other lists say nothing of headers."""
    assert name_of(ruleset.match(request("PUT", "/o/7", (header, "1")), Caller())) == "open"


@pytest.mark.parametrize(
    ("header", "told"),
    [
        ("X-Trace", "some"),
        ("x-trace", "some"),
        ("Cookie", "some"),
        ("X-Key", "some"),
        ("X_Trace", "no-policy"),
        ("X.Key", "no-policy"),
        ("X-Traces", "no-policy"),
        ("X-Purge", "no-policy"),
    ],
)
def test_what_the_rule_itself_looks_at_is_as_if_listed(ruleset: RuleSet, header: str, told: str) -> None:
    """Its conditions, and what names its resource and its intents; in one spelling."""
    fields = (("X-Kind", "a"), ("X-Tenant", "t"), (header, "1"))

    assert name_of(ruleset.match(request("PUT", "/s/7", *fields), Caller())) == told


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ((("X-Dry", "1"),), "read"),
        ((("X-Dry", "1"), ("Fencing-Token", "1.x")), "read"),
        ((("X-Dry", "1"), ("X-Wet", "1")), "no-policy"),
        ((("X-Dry", "1"), ("Cookie", "dry=0")), "no-policy"),
    ],
)
def test_a_read_lists_headers_too(ruleset: RuleSet, fields: tuple[tuple[str, str], ...], told: str) -> None:
    """Query and body, of which nothing is listed, may be anything."""
    for target, body in (("/r", None), ("/r?x=1", '{"y": 2}')):
        assert name_of(ruleset.match(request("POST", target, *fields, body=body), Caller())) == told


def test_clients_of_mcp_send_headers_of_their_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Those of the protocol are sent unasked there."""
    policy = (
        "protocol: mcp\nmount: {path: /mcp}\n"
        "writes: [{name: call, match: POST /mcp, resource: x, when: {tool: t}, only: {header: []}}]\n"
    )
    ruleset = rules(tmp_path_factory.mktemp("mcp"), HEAD + policy)
    call = '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "t"}}'

    for header, told in (("Mcp-Session-Id", "call"), ("MCP-Protocol-Version", "call"), ("X-Other", "no-policy")):
        assert name_of(ruleset.match(request("POST", "/mcp", (header, "1"), body=call), Caller())) == told
