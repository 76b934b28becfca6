"""Bodies that commands write into files."""

from pathlib import Path

import click
import pytest

from gateway.cli.admin_api import AdminApi
from gateway.cli.export import export

BODY = b"\x1b[2J\xff"


class Kept(AdminApi):
    """An API that answers this body."""

    def download(self, path: str) -> bytes:
        return BODY


API = Kept("http", "localhost", None)


def test_a_body_is_written_as_it_came(tmp_path: Path) -> None:
    """Byte for byte."""
    export(API, "/body", tmp_path / "file")

    assert (tmp_path / "file").read_bytes() == BODY


def test_without_a_file_it_goes_to_standard_output(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Which a script has let go into one."""
    export(API, "/body", None)

    assert capfdbinary.readouterr().out == BODY


def test_no_body_goes_to_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """It could write there whatever it likes."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)

    with pytest.raises(click.UsageError, match="-o FILE"):
        export(API, "/body", None)


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    """With what to do instead."""
    with pytest.raises(click.ClickException, match="Name another file"):
        export(API, "/body", tmp_path / "none" / "file")
