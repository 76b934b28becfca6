"""`fencegate notifications`: what webhooks could not tell people yet, and having it sent again."""

import click

from gateway.cli.admin_api import AdminApi, Problem, admin_option, limit_option, read_admin, segment
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import columns, heads_of, json_option, plain, print_json, print_list
from gateway.core.decision import NO_SUCH_NOTIFICATION

_PATH = "/api/v1/notifications"
_COLUMNS = ("id", "type", "occurred_at", "upstream", "resource", "intent", "attempts", "failure")


@click.group("notifications", cls=ListsFirst)
def command() -> None:
    """List notifications that were not received, and have them sent again. The admin token: FENCEGATE_ADMIN_TOKEN."""


@command.command("list")
@click.option("--state", type=click.Choice(("dead", "waiting")), default="dead", help="[dead: not sent any more]")
@limit_option
@admin_option
@json_option
def list_notifications(state: str, limit: int, admin: str, *, as_json: bool) -> None:
    """Show dead letters, the newest first; or what waits for its next attempt."""
    items = read_admin(admin).newest(_PATH, {"state": state}, limit)
    print_list(items, heads_of(_COLUMNS), columns(_COLUMNS), f"No notification is {state}.", as_json=as_json)


@command.command("retry")
@click.argument("ids", metavar="ID...", nargs=-1)
@click.option("--dead", is_flag=True, help="All dead letters.")
@admin_option
@json_option
def retry(ids: tuple[str, ...], admin: str, *, dead: bool, as_json: bool) -> None:
    """Have notifications sent now, from the first attempt on."""
    if dead == bool(ids):
        raise click.UsageError("Name notifications, or --dead for all dead letters.")
    api = read_admin(admin)
    # All of them first: what is sent again leaves the list that is gone through.
    named = [str(item["id"]) for item in api.items(_PATH, {"state": "dead"})] if dead else list(ids)
    again = [item for id in named if (item := _sent_again(api, id, is_listed=dead)) is not None]
    if as_json:
        print_json(again)
        return
    for item in again:
        click.echo(f"{plain(item['id'])} is sent again.")
    if not again:
        click.echo("No notification is dead.")


def _sent_again(api: AdminApi, id: str, *, is_listed: bool) -> dict[str, object] | None:
    """None: it was on the list, and somebody else had it sent meanwhile, or it became too old. The others go on."""
    try:
        return api.post(f"{_PATH}/{segment(id)}/retry", {})
    except Problem as problem:
        if not is_listed or problem.type != f"urn:fencegate:{NO_SUCH_NOTIFICATION.name}":
            raise
        click.echo(f"{plain(id)} is not there any more.", err=True)
        return None
