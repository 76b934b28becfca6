"""`fencegate check`: are these policy files right?"""

from dataclasses import asdict
from pathlib import Path

import click

from gateway.cli.output import counted, json_option, plain, print_json
from gateway.policy.finding import Finding, Wrong
from gateway.policy.load import load_policies
from gateway.policy.openapi.coverage import described_upstream, uncovered
from gateway.policy.openapi.operation import read_document
from gateway.policy.review.advice import advice
from gateway.policy.review.reversible import Coverage, reversible_coverage
from gateway.policy.review.unread import unread_directories
from gateway.policy.ruleset import RuleSet
from gateway.settings import environment


@click.command("check")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--openapi",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Warn of writing operations of this document that no rule takes, and of rules that take none.",
)
@click.option("--upstream", metavar="NAME", help="Which upstream the document describes.  [by its server]")
@json_option
def command(directory: Path, openapi: Path | None, upstream: str | None, *, as_json: bool) -> None:
    """Check the policy files in DIR. Exit status 1 if there are findings, each shown as file:line:column: message.

    A warning of what is most likely not meant leaves it at 0; with --openapi, each finding counts.
    """
    if upstream is not None and openapi is None:
        raise click.UsageError("--upstream says what a document describes; give --openapi FILE too")
    loaded = load_policies(directory, environment())
    findings = loaded if isinstance(loaded, tuple) else _compared(loaded, openapi, upstream)
    coverage = () if isinstance(loaded, tuple) else reversible_coverage(loaded)
    shown = findings if isinstance(loaded, tuple) else (*findings, *advice(loaded), *unread_directories(directory))
    if as_json:
        shown_findings = [asdict(finding) for finding in shown]
        print_json({"ok": not findings, "findings": shown_findings, "reversible": _reversible(coverage)})
    else:
        for finding in shown:
            click.echo(plain(finding))
        if not isinstance(loaded, tuple):
            upstreams, rules = counted(len(loaded.upstreams), "upstream"), counted(len(loaded.entries), "rule")
            who = f"{counted(len(loaded.principals), 'principal')}, " if loaded.principals else ""
            count = counted(len(shown), "warning") if shown else "no errors"
            _print_reversible(coverage)
            click.echo(f"{directory}: {upstreams}, {rules}, {who}{count}")
    if findings:
        raise click.exceptions.Exit(1)


def _reversible(coverage: tuple[Coverage, ...]) -> dict[str, object] | None:
    """None where the files have errors: nothing is known of their rules then."""
    if not coverage:
        return None
    whole, *upstreams = coverage
    return {
        "reversible": whole.reversible,
        "weight": whole.weight,
        "upstreams": [{"name": one.name, "reversible": one.reversible, "weight": one.weight} for one in upstreams],
    }


def _print_reversible(coverage: tuple[Coverage, ...]) -> None:
    """Who takes nothing back is not told so with each check."""
    whole, *upstreams = coverage
    if whole.reversible:
        click.echo(f"reversible, by weight: {whole}")
        for one in upstreams:
            click.echo(f"  {plain(one.name)}: {one}")


def _compared(ruleset: RuleSet, file: Path | None, name: str | None) -> tuple[Finding, ...]:
    if file is None:
        return ()
    document = read_document(file)
    if isinstance(document, Wrong):
        raise click.ClickException(document.message)
    upstream = described_upstream(ruleset, document, name)
    if isinstance(upstream, Wrong):
        raise click.ClickException(upstream.message)
    return uncovered(ruleset, upstream, document, str(file))
