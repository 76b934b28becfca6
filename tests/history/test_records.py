"""The logs of a run, read into a history."""

import math
from pathlib import Path

from tests.history.history import Call, Loss, Passage
from tests.history.log import Log, read_log
from tests.history.records import read_calls, read_losses, read_passages


def test_a_call_has_its_answer_if_one_came(tmp_path: Path) -> None:
    """One that was lost, or whose agent was killed, has none."""
    log = Log(tmp_path / "log")
    for id in "abc":
        log.note("asked", id=id, kind="write", resource="serial/1", epoch=7, key=None)
    log.note("told", id="a", status=200, decision="forwarded", outcome="applied", granted=None, intent=None)
    log.note("lost", id="b", why="reset")
    told = next(line for line in read_log(tmp_path / "log") if line["event"] == "told")

    a, b, c = read_calls(tmp_path / "log")

    assert a == Call("a", "write", "serial/1", a.at, 7, None, told["at"], 200, "forwarded", "applied", None)
    assert [b.answered, c.answered] == [None, None]


def test_a_request_that_comes_twice_passes_twice(tmp_path: Path) -> None:
    """Each passage has its own moments."""
    log = Log(tmp_path / "log")
    for event in ("began", "whole", "closed", "began", "whole", "answered"):
        log.note(event, id="a", **({"resource": "queued/1", "epoch": 7} if event == "began" else {}))
    at = [line["at"] for line in read_log(tmp_path / "log")]

    assert list(read_passages(tmp_path / "log")) == [
        Passage("a", "queued/1", 7, at[0], at[1], closed=at[2]),
        Passage("a", "queued/1", 7, at[3], at[4], answered=at[5]),
    ]


def test_a_log_that_was_never_written_is_empty(tmp_path: Path) -> None:
    """A run without a single call is one too."""
    assert list(read_calls(tmp_path / "none")) == []


def test_a_loss_reaches_back_to_where_the_promoted_server_was_in_step(tmp_path: Path) -> None:
    """It is over when it is accepted; one without a promotion may reach back to the beginning. A promotion before that
    may lose more, and nobody is told again."""
    log = Log(tmp_path / "log")
    log.note("lost", why="emptied")
    log.note("promoted", port=1, since=2.0)
    log.note("promoted", port=2, since=4.0)
    log.note("lost", why="a mark is missing")
    log.note("accepting")
    log.note("lost", why="again")
    first, one, other, second, accepting, third = (line["at"] for line in read_log(tmp_path / "log"))

    assert list(read_losses(tmp_path / "log")) == [
        Loss(-math.inf, first, accepting),
        Loss(2.0, one, accepting),
        Loss(4.0, other, accepting),
        Loss(4.0, second, accepting),
        Loss(4.0, third),
    ]


def test_a_loss_lasts_until_the_former_primary_takes_no_more_writes(tmp_path: Path) -> None:
    """Some gateways may be at it for a moment after another one has told of the loss."""
    log = Log(tmp_path / "log")
    log.note("promoted", port=2, since=2.0)
    log.note("lost", why="a mark is missing")
    log.note("stepped-down", port=1, since=2.0)
    log.note("accepting")
    _, _, stepped_down, accepting = (line["at"] for line in read_log(tmp_path / "log"))

    assert list(read_losses(tmp_path / "log")) == [Loss(2.0, stepped_down, accepting)]
