"""Warnings: what is allowed, and most likely not meant."""

from pathlib import Path

import pytest

from gateway.policy.advice import advice
from tests.policy.asking import rules

POLICY = """upstream: mails
url: http://127.0.0.1:9
defaults: {intent: {mode: required}}
writes:
  - {name: inline, match: "PUT /mails/{box}", resource: "box/{path.box}"}
  - {name: send, match: "POST /mails/{box}", resource: "box/{path.box}", LATER}
  - {name: move, match: "PATCH /mails/{box}", resource: "box/{path.box}", LATER}
"""
CREDENTIALS = 'credentials: [{header: X-Api-Key, value: "${env:TOKEN}"}]\n'


@pytest.mark.parametrize("later", ["delivery: queued", "approval: required"])
def test_an_upstream_without_credentials_that_is_sent_writes_later(later: str, tmp_path: Path) -> None:
    """What agents prove themselves with is not kept: it is told once, at the first of its rules."""
    [finding] = advice(rules(tmp_path, POLICY.replace("LATER", later)))

    assert (finding.severity, finding.line, finding.column) == ("warning", 6, 5)
    assert "rule `send`" in finding.message and "give it `credentials`" in finding.message


@pytest.mark.parametrize(
    "policy",
    [POLICY.replace("LATER", "delivery: queued") + CREDENTIALS, POLICY.replace("LATER", "delivery: inline")],
    ids=["it has credentials", "nothing is sent later"],
)
def test_nothing_else_is_warned_of(policy: str, tmp_path: Path) -> None:
    """An inline write has what its agent sends."""
    assert advice(rules(tmp_path, policy)) == ()
