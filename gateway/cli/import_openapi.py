"""`fencegate import-openapi`: a first policy for an API that is described by an OpenAPI document."""

from dataclasses import asdict
from pathlib import Path

import click

from gateway.cli.output import counted, json_option, plain, print_json
from gateway.policy.finding import Wrong
from gateway.policy.openapi.operation import read_document
from gateway.policy.openapi.policy_text import policy_text
from gateway.policy.openapi.wording import upstream_name


@click.command("import-openapi")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--upstream", metavar="NAME", help="Name and mount of the upstream.  [from the document's title]")
@click.option(
    "--output", metavar="FILE", type=click.Path(path_type=Path), help="A new file for the policy.  [standard output]"
)
@click.option(
    "--only-documented",
    is_flag=True,
    help="List in each rule what the document names of a request, and the values of its enums (`only`), so that one "
    "which says more is refused: an API may heed names that no document has. Only for documents that tell all.",
)
@json_option
def command(file: Path, upstream: str | None, output: Path | None, *, only_documented: bool, as_json: bool) -> None:
    """Write a commented policy with a rule for every writing operation of an OpenAPI 3.0 or 3.1 document.

    What the document does not say is marked DECIDE in the policy, and told on standard error.
    """
    if upstream is not None and upstream != upstream_name(upstream):
        raise click.BadParameter("write lower-case letters, digits and dashes, 40 at most", param_hint="--upstream")
    document = read_document(file, names_all=only_documented)
    if isinstance(document, Wrong):
        raise click.ClickException(document.message)
    policy = policy_text(document, file.name, upstream or upstream_name(document.title))
    if output is not None:
        _write(output, policy.text)
    if as_json:
        print_json(asdict(policy))
        return
    if output is None:
        click.echo(policy.text, nl=False)
    for question in policy.open:
        click.echo(f"DECIDE {plain(question)}", err=True)
    unlisted = f" ({policy.unlisted} without a whole list)" if policy.unlisted else ""
    questions = counted(len(policy.open), "question")
    click.echo(f"{counted(policy.rules, 'rule')}{unlisted}, {questions}; read it, then `fencegate check`", err=True)


def _write(output: Path, text: str) -> None:
    """Never over a file that is there: the policy in it may have been worked on."""
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        raise click.ClickException(f"{output} is there already; write to another file and compare the two") from None
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}") from None
