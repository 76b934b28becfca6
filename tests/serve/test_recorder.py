"""What is told of each request, to the metrics and to the log."""

import json
from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from gateway.core.decision import FORWARDED, OBSERVED, STALE_EPOCH, TOKEN_REQUIRED, Refused
from gateway.flow.gate import Ended
from gateway.flow.marks import Marks
from gateway.log import Level, Log
from gateway.metrics.worker import Metrics
from gateway.proxy.asked import Asked
from gateway.serve.recorder import Recorder

REFUSED = Ended(Refused(STALE_EPOCH, "Stop.", why="41 < 42"), "reports", "write", "report/7", 9007199254740993, "a")


def told(ended: Ended, directory: Path, level: Level = "info") -> list[dict[str, object]]:
    """The lines of the log of one request."""
    with (directory / "log").open("ab") as log:
        recorder = Recorder(Metrics(CollectorRegistry()), Log("json", level, log.fileno()))
        recorder.answered(ended, Asked("PUT", "/reports/7"), 412, 0.00125)
    return [json.loads(line) for line in (directory / "log").read_text().splitlines()]


def test_a_refusal_is_a_line_with_what_is_known_of_it(tmp_path: Path) -> None:
    """Epochs are texts, because JSON readers round past 2^53; what is not known is left out."""
    (line,) = told(REFUSED, tmp_path)

    assert line.pop("ts")
    assert line == {
        "level": "info",
        "event": "decision",
        "decision": "stale-epoch",
        "method": "PUT",
        "path": "/reports/7",
        "status": 412,
        "ms": 1.25,
        "upstream": "reports",
        "rule": "write",
        "resource": "report/7",
        "epoch": "9007199254740993",
        "holder": "a",
        "why": "41 < 42",
    }


@pytest.mark.parametrize(
    ("marks", "says"),
    [
        (Marks(FORWARDED, 42, "applied", session="the agent left"), {"outcome": "applied", "why": "the agent left"}),
        (Marks(OBSERVED, would=TOKEN_REQUIRED), {"would": "token-required"}),
    ],
    ids=["a session", "only observed"],
)
def test_what_was_passed_on_says_what_came_of_it(marks: Marks, says: dict[str, str], tmp_path: Path) -> None:
    """The outcome, how a session ended, and what would have been decided."""
    (line,) = told(Ended(marks), tmp_path)

    assert {name: line.get(name) for name in says} == says


def test_where_decisions_are_not_logged_none_is(tmp_path: Path) -> None:
    """Warnings and errors alone."""
    assert told(REFUSED, tmp_path, "warning") == []
