"""Recorded traffic is judged as the data path would have judged it."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.request import Headers
from gateway.policy.review.har import Recorded
from gateway.policy.review.traffic import Judged, judge, summary
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import rules

STRIPPED = """\
upstream: stripped
url: https://api.example/v1
mount: {path: /s, strip: true}
writes:
  - {name: one, match: "PUT /s/a/{id}", resource: "a/{path.id}"}
  - {name: body, match: "POST /s/a", resource: "a/{json:/id}"}
  - {name: session, match: "GET /s/rooms/{id}", upgrade: websocket, resource: "room/{path.id}"}
"""
PLAIN = """\
upstream: plain
url: http://127.0.0.1:9000
mount: {path: /p}
writes:
  - {name: two, match: "PUT /p/{id}", resource: "p/{path.id}"}
"""
HOSTED = """\
upstream: hosted
url: https://store.example
mount: {host: files.example}
writes:
  - {name: three, match: "PUT /{key...}", resource: "f/{path.key}"}
"""


ROOT = """\
upstream: root
url: http://root.example/v2
mount: {host: root.example}
writes:
  - {name: four, match: "PUT /{key...}", resource: "r/{path.key}"}
"""
SESSION = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13")]
SESSION += [("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA==")]


@pytest.fixture
def ruleset(tmp_path: Path) -> RuleSet:
    return rules(tmp_path, STRIPPED, PLAIN, HOSTED, ROOT)


def judged(ruleset: RuleSet, method: str, url: str, body: bytes | None = b"") -> Judged:
    headers = Headers([(b"Content-Type", b"application/json")] if body else ())
    (one,) = judge(ruleset, [Recorded(method, url, headers, body)], Caller())
    return one


@pytest.mark.parametrize(
    ("method", "url", "decision", "rule", "target"),
    [
        ("PUT", "https://api.example/v1/a/7", "forwarded", "one", "/s/a/7"),
        ("PUT", "https://API.example:443/v1/a/7?x=1", "forwarded", "one", "/s/a/7?x=1"),
        ("PUT", "https://api.example/v10/a/7", "no-upstream", None, "/v10/a/7"),
        ("PUT", "http://gateway:8080/s/a/7", "forwarded", "one", "/s/a/7"),
        ("PUT", "http://127.0.0.1:9000/p/7", "forwarded", "two", "/p/7"),
        ("PUT", "https://store.example/x/y", "forwarded", "three", "/x/y"),
        ("PUT", "https://files.example/x/y", "forwarded", "three", "/x/y"),
        ("GET", "https://api.example/v1/a/7", "passed", None, "/s/a/7"),
        ("DELETE", "https://api.example/v1/a/7", "no-policy", None, "/s/a/7"),
        ("PUT", "https://api.example/v1/a/../7", "ambiguous-target", None, "/s/a/../7"),
        ("PUT", "https://api.example?x", "no-upstream", None, "/?x"),
        ("PUT", "https://[::1/a", "bad-request", None, "/a"),
        ("PUT", "https://ada:secret@api.example/v1/a/7", "forwarded", "one", "/s/a/7"),
        ("PUT", "http://ada@gateway:8080/s/a/7", "forwarded", "one", "/s/a/7"),
        ("PUT", "HTTP://root.example/v2/x", "forwarded", "four", "/x"),
        ("GET", "http://root.example/v2?x=1", "passed", None, "/?x=1"),
    ],
)
def test_traffic_to_an_upstream_is_judged_as_through_its_mount(
    ruleset: RuleSet, method: str, url: str, decision: str, rule: str | None, target: str
) -> None:
    """Whether it was recorded at the gateway or before there was one."""
    one = judged(ruleset, method, url)

    assert (one.answer.decision, one.answer.rule, one.target) == (decision, rule, target)


@pytest.mark.parametrize(
    ("body", "decision", "resource"),
    [(b'{"id": "7"}', "forwarded", "a/7"), (None, "body-needed", None), (b"", "resource-unresolved", None)],
    ids=["kept", "not kept", "empty"],
)
def test_bodies_are_read_where_they_were_kept(
    ruleset: RuleSet, body: bytes | None, decision: str, resource: str | None
) -> None:
    """What was not kept is told, not guessed."""
    answer = judged(ruleset, "POST", "https://api.example/v1/a", body).answer

    assert (answer.decision, answer.resource) == (decision, resource)


@pytest.mark.parametrize("scheme", ["wss", "https"])
def test_a_session_is_judged_under_either_scheme(ruleset: RuleSet, scheme: str) -> None:
    """Browsers record its handshake under `wss`, proxies under `https`."""
    headers = Headers([(name.encode(), value.encode()) for name, value in SESSION])

    (one,) = judge(ruleset, [Recorded("GET", f"{scheme}://api.example/v1/rooms/7", headers, b"")], Caller())

    assert (one.answer.decision, one.answer.rule, one.target) == ("forwarded", "session", "/s/rooms/7")


def test_decisions_are_counted(ruleset: RuleSet) -> None:
    """The most frequent first."""
    urls = ["https://api.example/v1/b", "https://api.example/v1/a/7", "https://api.example/v1/c"]

    every = judge(ruleset, [Recorded("PUT", url, Headers(()), b"") for url in urls], Caller())

    assert list(summary(every).items()) == [("no-policy", 2), ("forwarded", 1)]
