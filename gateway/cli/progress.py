"""How far long work has come, on a terminal only: a log would have a line for each step of it."""

import sys
from types import TracebackType
from typing import Self

import click


class Progress:
    """One line on standard error that is written over, and gone at the end."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._shows = sys.stderr.isatty()
        self._width = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._width:
            click.echo("\r" + " " * self._width + "\r", nl=False, err=True)

    def show(self, count: int) -> None:
        if not self._shows:
            return
        line = f"{count:,} {self._what} …"
        click.echo("\r" + line.ljust(self._width), nl=False, err=True)
        self._width = max(self._width, len(line))
