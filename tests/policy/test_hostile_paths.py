"""What a hostile path costs: as much as its length, whatever the patterns are."""

import time
from pathlib import Path

import pytest

from gateway.core.caller import Caller
from gateway.core.request import Headers, Request
from gateway.core.target import Target, read_target
from gateway.policy.ruleset import RuleSet
from tests.policy.asking import HEAD, rules

POLICY = """\
mount: {path: /x}
writes:
  - {name: one, match: "PUT /x/{id}", resource: "x/{path.id}"}
  - {name: two, match: "PUT /x/{a}/b/{c}/b/{d}", resource: "x/{path.a}"}
  - {name: rest, match: "PUT /x/a/{rest...}", resource: "x/{path.rest}"}
  - {name: deep, match: "PUT /x/{a}/a/{b}/a/{c}/a/{rest...}", resource: "x/{path.rest}"}
"""
# The longest line that the parser takes has eight thousand bytes; they cost some milliseconds, and to go back over what
# was read would cost seconds.
_WITHIN_S = 0.05
_LONG = 8_000


@pytest.fixture
def ruleset(tmp_path: Path) -> RuleSet:
    return rules(tmp_path, HEAD + POLICY)


@pytest.mark.parametrize(
    "piece",
    ["a", "/a", "/a/b", "%61", "%", "%C3", "..%2e", "%2f", "/..", ";", "/a/b/a/a", "%25", "%252F", "?&a=", "//"],
)
def test_a_hostile_path_costs_no_more_than_its_length(ruleset: RuleSet, piece: str) -> None:
    """Neither decoding nor matching goes back over what it has read."""
    target = f"/x/{piece * (_LONG // len(piece))}"
    best = _WITHIN_S * 10
    for _ in range(20):
        began = time.process_time()
        read = read_target(target)
        if isinstance(read, Target):
            ruleset.match(Request("PUT", read, Headers(())), Caller())
        best = min(best, time.process_time() - began)

    assert best < _WITHIN_S
