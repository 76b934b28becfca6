"""`fencegate check`: are these policy files right?"""

from dataclasses import asdict
from pathlib import Path

import click

from gateway.cli.output import json_option, print_json
from gateway.policy.load import load_policies
from gateway.settings import environment


@click.command("check")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@json_option
def command(directory: Path, *, as_json: bool) -> None:
    """Check the policy files in DIR. Exit status 1 if they have errors, each shown as file:line:column: message."""
    loaded = load_policies(directory, environment())
    findings = loaded if isinstance(loaded, tuple) else ()
    if as_json:
        print_json({"ok": not findings, "findings": [asdict(finding) for finding in findings]})
    elif isinstance(loaded, tuple):
        for finding in findings:
            click.echo(str(finding))
    else:
        click.echo(f"{directory}: {len(loaded.upstreams)} upstreams, {len(loaded.entries)} rules, no errors")
    if findings:
        raise click.exceptions.Exit(1)
