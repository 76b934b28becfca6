"""What the commands print: text for people, or one JSON document.

Names come from agents. On a terminal a control character in one could hide what is printed or write something else, so
that people are shown its escape; in JSON it stands as JSON's own.
"""

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress

import click

Item = Mapping[str, object]

# In the context of a command: why not all was shown.
INCOMPLETE = "gateway.cli.incomplete"

# Members with what an upstream answered.
_OF_OTHERS = ("evidence",)
_MARKS = frozenset(',"')
_NOTHING = "-"

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of text.")


def print_json(document: object) -> None:
    text = json.dumps(document, indent=2, ensure_ascii=False)
    click.echo("".join(char if char == "\n" or char.isprintable() else json.dumps(char)[1:-1] for char in text))


def tell_incomplete(why: object) -> None:
    """What is printed is not all there is: said once of each reason, and by the command's exit status."""
    told = click.get_current_context().meta.setdefault(INCOMPLETE, [])
    if why not in told:
        told.append(why)
        click.echo(f"Incomplete: {plain(why)}. What is there may be missing here.", err=True)


def plain(value: object) -> str:
    """A value as a terminal may be given it, in one line; a dash where there is none."""
    return _NOTHING if value is None or value == "" else escaped(str(value))


def escaped(text: str) -> str:
    """A text as it is, but for what would command a terminal: that is shown as its escape."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def counted(count: int, thing: str) -> str:
    """`1 rule`, `2 rules`."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"


def print_table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Columns as wide as their widest cell; the last one may be of any length. A terminal has no room for empty ones,
    and what reads a file or a pipe finds each in its place.
    """
    cells = [list(heads), *([plain(value) for value in row] for row in rows)]
    if sys.stdout.isatty():
        cells = with_something(cells)
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def with_something(cells: Sequence[Sequence[str]]) -> list[list[str]]:
    """The columns in which some row has something below its head; all of them where there is no row."""
    filled = [len(cells) == 1 or any(cell != _NOTHING for cell in column[1:]) for column in zip(*cells, strict=True)]
    return [list(compress(row, filled)) for row in cells]


def heads_of(members: Iterable[str]) -> tuple[str, ...]:
    """Of a table whose columns are an item's members."""
    return tuple(name.removesuffix("_at").upper() for name in members)


def columns(members: Sequence[str]) -> Callable[[Item], Sequence[object]]:
    """What makes a row of an item: these members."""
    return lambda item: tuple(map(item.get, members))


def print_list(
    items: Sequence[Item], heads: Sequence[str], row: Callable[[Item], Sequence[object]], nothing: str, *, as_json: bool
) -> None:
    """A list that was asked for; `nothing` is what people read where it is empty."""
    if as_json:
        print_json(items)
    elif items:
        print_table(heads, map(row, items))
    else:
        click.echo(nothing)


def print_members(members: Mapping[str, object]) -> None:
    """One line each; what is nested is in one line too."""
    width = max(map(len, members), default=0) + 2
    for name, value in members.items():
        click.echo(f"{name:<{width}}{plain(_in_a_line(name, value))}")


def _in_a_line(name: str, value: object) -> object:
    """What the gateway nests is told in words, as far as it is there. Others' documents stay what they are: JSON."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, dict | list):
        return value
    if name in _OF_OTHERS or isinstance(value, list) or any(isinstance(one, dict | list) for one in value.values()):
        return json.dumps(value, ensure_ascii=False)
    return ", ".join(f"{inner} {_word(one)}" for inner, one in value.items() if one is not None)


def _word(value: object) -> object:
    """Nothing that an agent chose looks like the next member."""
    is_plain = not isinstance(value, str) or (value.isprintable() and not _MARKS.intersection(value))
    return _in_a_line("", value) if is_plain else json.dumps(value, ensure_ascii=False)
