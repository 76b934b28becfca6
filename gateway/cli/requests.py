"""A request that a gateway keeps: where it is, and how it is shown on a terminal."""

import click

from gateway.cli.admin_api import segment
from gateway.cli.output import Item, escaped, plain

# Characters of a body; the start tells what it is.
SHOWN_BODY = 2000


def path_of(intent: str) -> str:
    return "/api/v1/intents/" + segment(intent)


def exported(found: Item) -> str:
    """Where all of an intent's body is that is kept to be sent, this one's: the API's JSON has no large one."""
    request = f"{plain(found['id'])} --digest {plain(found.get('digest'))}"
    return f"`fencegate approvals export {request} -o FILE` has all of it"


def print_request(request: Item, whole: str | None = None) -> None:
    """The request line, the fields and the beginning of the body. What an agent sent moves no cursor."""
    print_head(request)
    click.echo("")
    print_body(request.get("body"), whole)


def print_head(request: Item) -> None:
    """The request line and the fields."""
    click.echo(f"{plain(request['method'])} {plain(request['target'])}")
    print_fields(request["headers"])


def print_fields(headers: object) -> None:
    """Fields as the admin API has them, one line each. A value that is empty is shown as that."""
    assert isinstance(headers, list)
    for name, value in headers:
        click.echo(f"  {escaped(name)}: {escaped(value)}")


def print_body(body: object, whole: str | None = None) -> None:
    """A body as the admin API shows it: its text, or None where it is none that is shown. `whole`: where all of it is,
    if not in the JSON.
    """
    if body is None:
        click.echo(f"  a body that is no text, or a large one: {whole or '--json shows it in base64'}")
        return
    print_text(str(body), whole or "--json shows all")


def print_text(text: str, whole: str) -> None:
    """The beginning of a body, and where the whole is if that is not all."""
    for line in text[:SHOWN_BODY].splitlines():
        click.echo(f"  {escaped(line)}")
    if len(text) > SHOWN_BODY:
        click.echo(f"  and {len(text) - SHOWN_BODY} characters more: {whole}")


def named(found: Item, digest: str) -> dict[str, object]:
    """The request that was looked at, and since when it waits: a call that comes late is for no other."""
    since = found.get("since")
    return {"digest": digest} if since is None or found.get("digest") != digest else {"digest": digest, "since": since}
