"""A write is given what would take it back, as far as its request fills that."""

from pathlib import Path

from gateway.core.caller import Caller
from gateway.core.kept_request import KeptRequest
from gateway.core.write import Write
from gateway.flow.undoing import undoable
from gateway.policy.match import Matched
from tests.playbook.given import INTENT, write
from tests.policy.asking import request, rules

POLICY = """upstream: mails
url: http://127.0.0.1:9
mount: {path: /mails}
writes:
  - name: send
    match: POST /mails/{box}
    resource: box/{path.box}
    intent: {mode: required}
    effect: {compensation: {request: "DELETE /mails/{path.box}/{response.json:/id}?by={json:/from}&of={tenant}"}}
  - {name: mark, match: "PUT /mails/{box}", resource: "box/{path.box}"}
"""


def given(directory: Path, method: str) -> tuple[Write, Write]:
    """The write before and after."""
    asked = request(method, "/mails/in", body='{"from": "ann"}')
    caller = Caller("ann", "acme")
    matched = rules(directory, POLICY).match(asked, caller)
    assert isinstance(matched, Matched)
    before = write(matched.entry.rule, intent=INTENT)
    return before, undoable(before, matched, asked, caller)


def test_it_is_filled_from_the_request(tmp_path: Path) -> None:
    """Its body too, and who had sent it; from the answer later."""
    _, after = given(tmp_path, "POST")

    assert after.compensating is not None
    undo = after.compensating.render((), b'{"id": 7}')
    assert isinstance(undo, KeptRequest)
    assert (undo.method, undo.target) == ("DELETE", "/mails/in/7?by=ann&of=acme")


def test_a_rule_without_a_compensation_leaves_the_write_as_it_is(tmp_path: Path) -> None:
    """Nothing takes it back."""
    before, after = given(tmp_path, "PUT")

    assert after is before
