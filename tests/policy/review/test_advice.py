"""Warnings: what is allowed, and most likely not meant. Each kind has its tests beside it, in `advised`."""

from pathlib import Path

import pytest

from gateway.policy.review.advice import advice
from tests.policy.asking import rules

POLICY = """upstream: mails
url: http://127.0.0.1:9
FIELDSdefaults: {intent: {mode: required}}
writes:
  - {name: read, match: "PUT /mails/{box}", resource: "box/{path.box}"}
  - {name: send, match: "POST /mails/{box}", resource: "box/{path.box}", MORE}
"""
ORDERS = ("order: strict", "sequence: increasing", "sequence: contiguous", "order: strict, sequence: contiguous")


def test_every_kind_is_told_in_the_order_of_the_file(tmp_path: Path) -> None:
    """Of one policy with two slips, at the rules that have them."""
    found = advice(rules(tmp_path, POLICY.replace("FIELDS", "host: preserve\n").replace("MORE", "delivery: queued")))

    assert [(one.line, one.severity) for one in found] == [(6, "warning"), (7, "warning")]
    assert "host: preserve" in found[0].message and "sends later" in found[1].message


@pytest.mark.parametrize("order", ORDERS)
def test_writes_in_parallel_may_be_numbered(tmp_path: Path, order: str) -> None:
    """And a policy without slips has no warnings."""
    policy = POLICY.replace("FIELDS", "").replace("MORE", f"fence: {{concurrency: parallel, {order}}}")

    assert advice(rules(tmp_path, policy)) == ()
