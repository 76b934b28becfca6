"""The log: a line per decision, and no value that can pass for a line or a field."""

import json
import os
import tempfile
from collections.abc import Callable
from typing import Literal

import pytest

from gateway.log import Log

HOSTILE = [
    'x\n{"decision":"passed"}',
    "x\r\nlevel=error",
    "x decision=passed",
    'x" decision="passed',
    "x\u2028y\u2029z\x85w",
    "x\x1b[2Jy",
    "\udcff",
    "",
]


def lines_of(
    form: Literal["json", "text"], write: Callable[[Log], None], level: Literal["info", "error"] = "info"
) -> str:
    """What `write` logs. To a file: a pipe would have to be read meanwhile."""
    with tempfile.TemporaryFile() as file:
        write(Log(form, level, file.fileno()))
        file.seek(0)
        return file.read().decode("ascii")


def test_a_decision_in_json() -> None:
    """Fields have their names; what is absent is left out."""
    text = lines_of(
        "json", lambda log: log.decision(decision="stale-epoch", status=412, ms=1.25, resource="report/7", holder=None)
    )

    line = json.loads(text)
    assert line.pop("ts").endswith("+00:00")
    assert line == {
        "level": "info",
        "event": "decision",
        "decision": "stale-epoch",
        "status": 412,
        "ms": 1.25,
        "resource": "report/7",
    }


@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_no_value_splits_a_line_or_forges_a_field_in_json(value: str) -> None:
    """A line is one JSON document, and the value reads back as it was."""
    text = lines_of("json", lambda log: log.warning("odd", holder=value))

    assert text.splitlines() == [text.removesuffix("\n")]
    assert json.loads(text)["holder"] == value
    assert "decision" not in json.loads(text)


@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_no_value_splits_a_line_or_forges_a_field_in_text(value: str) -> None:
    """Whatever is not plain is one JSON string."""
    text = lines_of("text", lambda log: log.warning("odd", holder=value))

    assert text.splitlines() == [text.removesuffix("\n")]
    assert text.removesuffix("\n").endswith(f"odd holder={json.dumps(value)}")


def test_an_event_cannot_forge_a_field_either() -> None:
    """Events may quote what the system said."""
    text = lines_of("text", lambda log: log.error("broke: x=1\nlevel=info"))

    assert text.endswith('"broke: x=1\\nlevel=info"\n')


def test_a_long_value_is_cut() -> None:
    """A line stays short enough to be written in one piece."""
    line = json.loads(lines_of("json", lambda log: log.info("odd", path="/" + "x" * 10_000)))

    assert len(line["path"]) == 256
    assert line["path"].endswith("x…")


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_line_is_cut_as_it_is_spelled(form: Literal["json", "text"]) -> None:
    """An escape has up to twelve characters: as many as a pipe takes whole, or writing them could stop all requests."""
    odd, names = "\U0001f600" * 256, ("path", "resource", "holder", "principal")
    text = lines_of(form, lambda log: log.decision(decision="forwarded", **dict.fromkeys(names, odd)))

    assert len(text) <= 4096
    assert text.count("\n") == 1
    assert all(name in text for name in names)
    assert "\\ud83d\\ude00" in text and "\\u2026" in text


def test_what_is_below_the_level_is_not_written() -> None:
    """`--log-level error` leaves out decisions and warnings."""
    assert lines_of("json", lambda log: log.warning("odd"), level="error") == ""


def test_a_reader_that_is_gone_fails_nobody() -> None:
    """A request is answered whether or not its line can be written."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        Log("json", "info", writer).info("nobody reads this")
    finally:
        os.close(writer)


def test_decisions_of_one_turn_are_written_together() -> None:
    """In pieces that a pipe takes whole, and in order with everything else that is logged."""
    turn: list[Callable[[], None]] = []
    reader, writer = os.pipe()
    try:
        log = Log("json", "info", writer)
        log.gather(turn.append)
        for number in range(30):
            log.decision(decision="forwarded", path="/" + "x" * 200, status=200 + number)

        os.set_blocking(reader, False)
        with pytest.raises(BlockingIOError):
            os.read(reader, 1)
        assert len(turn) == 1
        log.warning("odd")
        turn[0]()
        written = os.read(reader, 65536).decode("ascii").splitlines()
    finally:
        os.close(reader)
        os.close(writer)

    lines = [json.loads(line) for line in written]
    assert [line.get("status", line["event"]) for line in lines] == [*range(200, 230), "odd"]


def test_a_reader_that_does_not_read_stops_nobody() -> None:
    """Its lines wait, up to a bound; then they are lost, and it is told how many."""
    reader, writer = os.pipe()
    try:
        log = Log("json", "info", writer)
        for number in range(20_000):
            log.info("odd", number=number)

        os.set_blocking(reader, False)
        text = b""
        while b"were lost" not in text:
            text += os.read(reader, 1 << 20)
            log.info("odd", number=-1)
    finally:
        os.close(reader)
        os.close(writer)

    lines = [json.loads(line) for line in text.splitlines()]
    lost = next(line for line in lines if "lines" in line)
    told = [line["number"] for line in lines if line.get("number", -1) >= 0]
    assert told == list(range(len(told)))
    assert (lost["level"], lost["lines"]) == ("warning", 20_000 - len(told))
