"""The command says what it has explored."""

from click.testing import CliRunner

from tests.model.explore.__main__ import main


def test_a_world_is_told_with_its_figures() -> None:
    """Exit code 0: nothing was broken as deep as it went."""
    result = CliRunner().invoke(main, ["--world", "takeover", "--depth", "3"])

    assert result.exit_code == 0
    assert "takeover: " in result.output
    assert "depth 3 (no further)" in result.output
