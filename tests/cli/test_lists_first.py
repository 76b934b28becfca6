"""Commands whose `list` may be left out."""

import click
import pytest
from click.testing import CliRunner

from gateway.cli.lists_first import ListsFirst


@click.group("things", cls=ListsFirst)
def things() -> None:
    """Things."""


@things.command("list")
@click.option("--json", "as_json", is_flag=True)
def list_things(*, as_json: bool) -> None:
    click.echo(f"listed {as_json}")


@things.command("drop")
@click.argument("id")
def drop_thing(id: str) -> None:
    click.echo(f"dropped {id}")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "listed False\n"),
        (["--json"], "listed True\n"),
        (["list", "--json"], "listed True\n"),
        (["drop", "7"], "dropped 7\n"),
    ],
    ids=" ".join,
)
def test_without_a_subcommand_it_lists(arguments: list[str], told: str) -> None:
    """Options are then those of the list."""
    assert CliRunner().invoke(things, arguments).output == told


def test_help_is_about_all_of_it() -> None:
    """And not about the list alone."""
    assert "drop" in CliRunner().invoke(things, ["--help"]).output


@things.command("advance")
def advance_things() -> None:
    """Raise all of them as far as they go: whoever has one that is lower is told so at the next call. More is here."""


def test_help_has_whole_sentences() -> None:
    """Not what fits into a line; and says what happens without a command."""
    told = " ".join(CliRunner().invoke(things, ["--help"]).output.split())

    assert "whoever has one that is lower is told so at the next call." in told and "More is here" not in told
    assert told.endswith("Without a command: list.")
