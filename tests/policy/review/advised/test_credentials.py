"""Writes that are sent later, by an upstream's own credentials or by nobody's."""

from pathlib import Path

import pytest

from gateway.policy.review.advised.credentials import without_credentials
from tests.policy.asking import rules

POLICY = """upstream: mails
url: http://127.0.0.1:9
defaults: {intent: {mode: required}}
writes:
  - {name: inline, match: "PUT /mails/{box}", resource: "box/{path.box}"}
  - {name: send, match: "POST /mails/{box}", resource: "box/{path.box}", LATER}
  - {name: move, match: "PATCH /mails/{box}", resource: "box/{path.box}", LATER}
"""


@pytest.mark.parametrize("later", ["delivery: queued", "approval: required"])
def test_an_upstream_without_credentials_that_is_sent_writes_later(later: str, tmp_path: Path) -> None:
    """What agents prove themselves with is not kept: it is told once, at the first of its rules."""
    [finding] = without_credentials(rules(tmp_path, POLICY.replace("LATER", later)))

    assert (finding.severity, finding.line, finding.column) == ("warning", 6, 5)
    assert "rule `send`" in finding.message and "give it `credentials`" in finding.message


@pytest.mark.parametrize(
    ("later", "more"),
    [("delivery: queued", 'credentials: [{header: X-Api-Key, value: "${env:TOKEN}"}]\n'), ("delivery: inline", "")],
    ids=["it has credentials", "nothing is sent later"],
)
def test_what_needs_none_is_not_warned_of(later: str, more: str, tmp_path: Path) -> None:
    """An inline write has what its agent sends."""
    assert list(without_credentials(rules(tmp_path, POLICY.replace("LATER", later) + more))) == []
