"""Asking before what cannot be taken back."""

import click
import pytest

from gateway.cli.asking import confirm


@pytest.mark.parametrize(
    ("is_terminal", "yes", "is_asked"),
    [(True, False, True), (True, True, False), (False, False, False)],
    ids=["a person", "a person who said yes", "a script"],
)
def test_only_a_person_who_has_not_said_yes_is_asked(
    is_terminal: bool, yes: bool, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A script has nobody to ask."""
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: is_terminal)
    monkeypatch.setattr(click, "confirm", lambda question, **_options: asked.append(question))

    confirm("Send it?", yes=yes)

    assert asked == (["Send it?"] if is_asked else [])
