"""What the command says to whoever asks for what there is not."""

from click.testing import CliRunner

from tests.history.__main__ import main


def test_a_durability_that_there_is_not_is_told() -> None:
    """With those that there are."""
    told = CliRunner().invoke(main, ["--durability", "gold"])

    assert told.exit_code == 2
    assert "write process, disk or replica:N" in told.output


def test_an_unknown_nemesis_is_told_by_name() -> None:
    """Nothing is started."""
    told = CliRunner().invoke(main, ["--nemesis", "kill-store,boil-ocean"])

    assert told.exit_code == 2
    assert "no nemesis does boil-ocean; there are" in told.output
