"""A body that a gateway keeps, written into a file as it came."""

import sys
from pathlib import Path

import click

from gateway.cli.admin_api import AdminApi

output_option = click.option(
    "-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="A new file for it.  [standard output]"
)


def export(api: AdminApi, path: str, output: Path | None) -> None:
    """Write what the path answers. Raises ClickException, and UsageError for a terminal."""
    if output is None and sys.stdout.isatty():
        # What an agent sent could write to the terminal whatever it likes.
        raise click.UsageError("Name a file with -o FILE, or let the output go into one.")
    body = api.download(path)
    if output is None:
        sys.stdout.buffer.write(body)
        return
    try:
        with output.open("xb") as file:
            file.write(body)
    except FileExistsError:
        raise click.ClickException(f"{output} is there already, and stays as it is. Name another file.") from None
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}. Name another file.") from None
    click.echo(f"{len(body)} bytes are in {output}.", err=True)
