"""A queued write is taken back like any other: its compensation is filled from the request that was kept."""

from dataclasses import replace
from pathlib import Path

import pytest

from gateway.core.compensation import Unavailable
from gateway.core.kept_request import KeptRequest
from gateway.core.request import Headers, Request
from gateway.core.rule import Rule
from gateway.core.target import Target, read_target
from gateway.core.write import Write
from gateway.flow.undoing import undoable_again
from gateway.policy.ruleset import RuleSet
from tests.playbook import INTENT, write
from tests.policy.asking import rules

POLICY = """upstream: mails
url: http://127.0.0.1:9
mount: {path: /mails}
writes:
  - name: send
    match: POST /mails/{box}
    resource: box/{path.box}
    intent: {mode: required}
    delivery: queued
    effect: {compensation: {request: "DELETE /mails/{path.box}/{response.json:/id}?by={json:/from}&of={tenant}"}}
  - {name: mark, match: "PUT /mails/{box}", resource: "box/{path.box}"}
"""
BODY = b'{"from": "ann"}'


def kept_write(found: RuleSet, name: str = "send") -> Write:
    rule: Rule = next(entry.rule for entry in found.entries if entry.rule.name == name)
    return replace(write(rule, intent=INTENT), tenant="acme")


def request(target: str = "/mails/in") -> Request:
    read = read_target(target)
    assert isinstance(read, Target)
    return Request("POST", read, Headers(((b"Content-Type", b"application/json"),)))


def test_it_is_filled_from_the_request_that_was_kept(tmp_path: Path) -> None:
    """Its body too, and who had sent it."""
    found = rules(tmp_path, POLICY)

    compensating = undoable_again(kept_write(found), found, request(), BODY).compensating

    assert compensating is not None
    undo = compensating.render((), b'{"id": 7}')
    assert isinstance(undo, KeptRequest)
    assert (undo.method, undo.target) == ("DELETE", "/mails/in/7?by=ann&of=acme")


def test_where_its_rule_no_longer_takes_it_nothing_is_guessed(tmp_path: Path) -> None:
    """The record says so once it is applied."""
    found = rules(tmp_path, POLICY)

    compensating = undoable_again(kept_write(found), found, request("/mails/in/out"), BODY).compensating

    assert compensating is not None
    assert compensating.render((), b'{"id": 7}') == Unavailable("its rule has changed since it was queued")


@pytest.mark.parametrize("name", ["mark"])
def test_a_rule_without_a_compensation_leaves_the_write_as_it_is(tmp_path: Path, name: str) -> None:
    """Nothing is matched again."""
    found = rules(tmp_path, POLICY)
    one = kept_write(found, name)

    assert undoable_again(one, found, request(), BODY) is one
