"""Asking the person at a terminal before what cannot be taken back."""

import sys

import click

yes_option = click.option("--yes", is_flag=True, help="Do not ask, on a terminal either.")


def confirm(question: str, *, yes: bool) -> None:
    """Abort unless the answer is yes, or was given by `--yes`."""
    # A script has nobody to ask; what it says it means.
    if not yes and sys.stdin.isatty():
        click.confirm(question, abort=True, err=True)
