"""rooms.yaml: what opens a session, and what only looks as if it did."""

import pytest

from gateway.policy.ruleset import RuleSet
from tests.policy.examples.shipped import Header, shipped, told

KEY, VERSION = ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13")
UPGRADE, CONNECTION = ("Upgrade", "websocket"), ("Connection", "Upgrade")
PLAIN = (UPGRADE, CONNECTION, KEY, VERSION)
LIVE = "/rooms/7/live"


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return shipped(tmp_path_factory.mktemp("rooms"), "rooms")


@pytest.mark.parametrize(
    ("headers", "decision"),
    [
        (PLAIN, "forwarded"),
        ((("UPGRADE", "WebSocket"), ("connection", "keep-alive, UpGrade"), KEY, VERSION), "forwarded"),
        *(
            ((("Upgrade", protocols), CONNECTION, KEY, VERSION), "bad-request")
            for protocols in ("h2c, websocket", "websocket, x", "websocket/13", "", "h2c")
        ),
        ((("Upgrade", "h2c"), *PLAIN), "bad-request"),
        ((UPGRADE, KEY, VERSION), "bad-request"),
        ((UPGRADE, CONNECTION, VERSION), "bad-request"),
        ((*PLAIN, KEY), "bad-request"),
        ((UPGRADE, CONNECTION, ("Sec-WebSocket-Key", "x"), VERSION), "bad-request"),
        ((UPGRADE, CONNECTION, KEY, ("Sec-WebSocket-Version", "8")), "bad-request"),
        ((*PLAIN, ("Content-Length", "5")), "bad-request"),
        # A read, to the API too: `Upgrade` reaches it in no spelling.
        *(
            (headers, "passed")
            for headers in (
                (CONNECTION, KEY, VERSION),
                (KEY, VERSION),
                (("Up_grade", "websocket"), ("Connection", "Up_grade"), KEY, VERSION),
            )
        ),
    ],
)
def test_a_handshake_has_all_of_it_once(ruleset: RuleSet, headers: tuple[Header, ...], decision: str) -> None:
    """Servers differ in what they leave out."""
    assert told(ruleset, "GET", LIVE, *headers) == decision


@pytest.mark.parametrize(
    ("method", "target", "decision"),
    [
        *(("GET", target, "bad-request") for target in ("/rooms/7", "/rooms/7/live/", "/rooms/7/live/x")),
        ("POST", LIVE, "bad-request"),
        ("GET", "/rooms/7/%6cive", "ambiguous-target"),
    ],
)
def test_a_session_is_opened_where_its_rule_says_so(ruleset: RuleSet, method: str, target: str, decision: str) -> None:
    """At no other path, and by no other method."""
    assert told(ruleset, method, target, *PLAIN) == decision
