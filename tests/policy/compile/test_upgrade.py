"""Rules that take WebSocket handshakes: what they match, and what other questions about them are answered."""

from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.decision import Refused
from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target
from gateway.policy.load import load_policies
from gateway.policy.match import Matched, Read
from gateway.policy.review.explain import explain
from gateway.policy.ruleset import RuleSet

POLICY = """
upstream: rooms
url: http://localhost:9000
mount: {path: /rooms}
reads: READS
writes:
  - name: live
    match: GET /rooms/{id}/live
    upgrade: websocket
    when: {header: {sec-websocket-protocol: [chat, log]}}
    resource: room/{path.id}
  - name: any
    match: GET /rooms/any/{rest...}
    upgrade: websocket
    resource: room/{path.rest}
  - name: write
    match: PUT /rooms/{id}/live
    resource: room/{path.id}
"""
HANDSHAKE = {
    b"Connection": b"Upgrade",
    b"Upgrade": b"websocket",
    b"Sec-WebSocket-Version": b"13",
    b"Sec-WebSocket-Key": b"dGhlIHNhbXBsZSBub25jZQ==",
    b"Sec-WebSocket-Protocol": b"chat",
}


def rules(directory: Path, reads: str = "pass") -> RuleSet:
    (directory / "policy.yaml").write_text(POLICY.replace("READS", reads))
    ruleset = load_policies(directory, {})
    assert isinstance(ruleset, RuleSet), ruleset
    return ruleset


def asked(target: str, fields: dict[bytes, bytes] = HANDSHAKE, method: str = "GET") -> Request:
    read = read_target(target)
    assert isinstance(read, Target)
    return Request(method, read, Headers(fields.items()))


def told(ruleset: RuleSet, request: Request) -> str:
    """The rule's name, the refusal's, or that it is a read."""
    match ruleset.match(request, Caller()):
        case Matched(entry):
            return entry.rule.name
        case Read():
            return "read"
        case Refused(decision):
            return decision.name
    raise AssertionError


@pytest.mark.parametrize(
    ("request_", "word"),
    [
        pytest.param(asked("/rooms/7/live"), "live", id="a handshake"),
        pytest.param(asked("/rooms/7/live", {}), "read", id="a plain GET of its path"),
        pytest.param(asked("/rooms/7/live", {}, "HEAD"), "read", id="a HEAD of its path"),
        pytest.param(asked("/rooms/any/7/live"), "any", id="the more specific one"),
        pytest.param(asked("/rooms/7"), "bad-request", id="another path"),
        pytest.param(asked("/rooms/7/live/"), "bad-request", id="with a slash at its end"),
        pytest.param(asked("/rooms/7%2Flive"), "ambiguous-target", id="with an encoded slash"),
        pytest.param(
            asked("/rooms/7/live", HANDSHAKE | {b"Sec-WebSocket-Protocol": b"x"}), "bad-request", id="another condition"
        ),
        pytest.param(asked("/rooms/7/live", {}, "PUT"), "write", id="a write of its path"),
        pytest.param(asked("/elsewhere"), "no-upstream", id="no upstream"),
    ],
)
def test_a_handshake_is_matched_like_a_write(tmp_path: Path, request_: Request, word: str) -> None:
    """By path and conditions; what is no handshake goes its own way."""
    assert told(rules(tmp_path), request_) == word


def test_a_session_begins_where_reads_are_denied(tmp_path: Path) -> None:
    """It is a write: what stays closed is the plain GET."""
    ruleset = rules(tmp_path, reads="deny")

    assert (told(ruleset, asked("/rooms/7/live")), told(ruleset, asked("/rooms/7/live", {}))) == (
        "live",
        "reads-denied",
    )


def test_a_lease_may_be_taken_for_a_handshake_s_target(tmp_path: Path) -> None:
    """A GET stands for the session that it would begin; where none would, no lease is needed."""
    ruleset = rules(tmp_path)
    found = ruleset.resolve_target("GET", "/rooms/any/7", Caller())
    missing = ruleset.resolve_target("GET", "/rooms/7", Caller())

    assert not isinstance(found, Refused) and (found[0], found[1].name) == ("room/7", "any")
    assert isinstance(missing, Refused) and missing.decision.name == "no-such-resource"


def test_an_explanation_tells_a_handshake_from_what_is_none(tmp_path: Path) -> None:
    """With the rules that were considered, or with what is wrong with its fields."""
    ruleset = rules(tmp_path)
    taken = explain(ruleset, asked("/rooms/7/live"), Caller())
    closed = explain(ruleset, asked("/rooms/7"), Caller())
    malformed = explain(ruleset, asked("/rooms/7/live", {b"Upgrade": b"h2c"}), Caller())

    assert (taken.answer.decision, taken.answer.rule, taken.answer.resource) == ("forwarded", "live", "room/7")
    assert [one.why for one in taken.considered if one.taken] == ["takes this request"]
    assert (closed.answer.decision, malformed.answer.decision) == ("bad-request", "bad-request")
    assert "WebSocket" in (malformed.answer.detail or "")
