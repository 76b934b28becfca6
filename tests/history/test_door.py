"""The doorkeeper: requests are told apart as they come, piece by piece."""

import time
from pathlib import Path

import pytest

from tests.history.door import Doorkeeper
from tests.history.log import Log, read_log

_HEAD = b"PUT /serial/1 HTTP/1.1\r\nHost: x\r\nX-Attempt: %b\r\nX-Epoch: 7\r\n"
SIZED = _HEAD % b"a" + b"Content-Length: 4\r\n\r\nbody"
CHUNKED = _HEAD % b"b" + b"Transfer-Encoding: chunked\r\n\r\n4\r\nbo\r\n\r\nA\r\n0123456789\r\n0\r\n\r\n"
EMPTY = _HEAD % b"c" + b"Content-Length: 0\r\n\r\n"
READ = b"GET /serial/1 HTTP/1.1\r\nHost: x\r\nX-Attempt: d\r\n\r\n"


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_requests_in_a_row(tmp_path: Path, size: int) -> None:
    """Each write has a beginning and an end, however it is cut; a read has neither."""
    keeper = Doorkeeper(Log(tmp_path / "log"))
    data = SIZED + CHUNKED + EMPTY + READ + SIZED
    for start in range(0, len(data), size):
        keeper.asked(data[start : start + size])

    told = [(line["event"], line["id"]) for line in read_log(tmp_path / "log")]
    assert told == [(event, id) for id in "abca" for event in ("began", "whole")]


def test_an_answer_ends_a_request_and_so_does_the_end_of_its_connection(tmp_path: Path) -> None:
    """Whichever comes first; an interim answer is none."""
    before = time.monotonic()
    keeper = Doorkeeper(Log(tmp_path / "log"))
    keeper.asked(SIZED)
    keeper.answering(b"HTTP/1.1 100 Continue\r\n\r\n")
    keeper.answering(b"HTTP/1.1 200 OK\r\n")
    keeper.asked(CHUNKED[:-3])
    keeper.closed()
    keeper.closed()

    lines = list(read_log(tmp_path / "log"))
    events = [(line["event"], line["id"]) for line in lines]
    assert events == [("began", "a"), ("whole", "a"), ("answered", "a"), ("began", "b"), ("closed", "b")]
    assert (lines[0]["resource"], lines[0]["epoch"]) == ("serial/1", 7)
    assert before <= lines[0]["at"] <= lines[-1]["at"] <= time.monotonic()
