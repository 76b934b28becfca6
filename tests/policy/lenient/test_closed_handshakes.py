"""What a policy closes, of a WebSocket handshake that a rule takes: as of any write, in every spelling."""

import pytest

from gateway.core.caller import Caller
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, name_of, request, rules

POLICY = """\
mount: {path: /r}
closed:
  - {when: {query: {sudo: {present: true}}}}
  - {when: {header: {x-sudo: {present: true}}}}
  - {match: "GET /r/{id}/live", when: {query: {admin: {present: true}}}}
  - {match: GET /r/admin/live}
writes:
  - {name: live, match: "GET /r/{id}/live", upgrade: websocket, resource: "room/{path.id}", values: word}
"""
HANDSHAKE = (
    ("Upgrade", "websocket"),
    ("Connection", "Upgrade"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
)


@pytest.fixture(scope="module")
def ruleset(tmp_path_factory: pytest.TempPathFactory) -> RuleSet:
    return rules(tmp_path_factory.mktemp("handshakes"), HEAD + POLICY)


@pytest.mark.parametrize(
    ("target", "fields", "session", "read"),
    [
        ("/r/7/live", (), "live", "read"),
        ("/r/7/live?sudo=1", (), "no-policy", "reads-denied"),
        ("/r/7/live?Sudo", (), "ambiguous-target", "ambiguous-target"),
        ("/r/7/live?admin", (), "no-policy", "reads-denied"),
        ("/r/7/live?%61dmin=1", (), "no-policy", "reads-denied"),
        ("/r/7/live?x=1&admin=1", (), "no-policy", "reads-denied"),
        ("/r/7/live", (("X-Sudo", "1"),), "no-policy", "reads-denied"),
        ("/r/7/live", (("X_Sudo", "1"),), "ambiguous-target", "ambiguous-target"),
        ("/r/admin/live", (), "no-policy", "reads-denied"),
        ("/r/%61dmin/live", (), "no-policy", "reads-denied"),
        ("/r/Admin/live", (), "ambiguous-target", "ambiguous-target"),
        ("/r/ADMIN/live", (), "ambiguous-target", "ambiguous-target"),
    ],
)
def test_a_handshake_is_closed_as_a_write_is(
    ruleset: RuleSet, target: str, fields: tuple[tuple[str, str], ...], session: str, read: str
) -> None:
    """By path, query and header; what asks for the same without `Upgrade` is a read, and closed as one."""
    asked = [ruleset.match(request("GET", target, *more, *fields), Caller()) for more in (HANDSHAKE, ())]

    assert [name_of(found) for found in asked] == [session, read]
