"""`fencegate test`: do the policies say what their tests want?"""

from dataclasses import asdict
from pathlib import Path

import click

from gateway.cli.output import json_option, print_json
from gateway.policy.review.cases import run_cases
from gateway.settings import environment


@click.command("test")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@json_option
def command(directory: Path, *, as_json: bool) -> None:
    """Run the *.test.yaml in DIR against the policies beside them. Exit status 1 if one fails."""
    report = run_cases(directory, environment())
    if as_json:
        print_json(asdict(report) | {"passed": report.passed})
    else:
        for finding in report.findings:
            click.echo(str(finding))
        for result in report.results:
            click.echo(str(result))
        failed = sum(result.failure is not None for result in report.results)
        click.echo(f"{len(report.results) - failed} passed, {failed} failed")
    if not report.passed:
        raise click.exceptions.Exit(1)
