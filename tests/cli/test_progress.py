"""How far long work has come."""

import io

import pytest

from gateway.cli.progress import Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_one_line_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Written over, and blank in the end."""
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)

    with Progress("events") as progress:
        progress.show(10_000)
        progress.show(9)

    assert terminal.getvalue() == "\r10,000 events …\r9 events …     \r" + " " * 15 + "\r"


def test_a_log_has_no_line_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    """It would have one for each step."""
    with Progress("events") as progress:
        progress.show(10_000)

    assert capsys.readouterr() == ("", "")
