"""`fencegate resources`: what a running gateway knows of its resources, through its admin API."""

import shlex

import click

from gateway.cli.admin_api import Item, admin_option, read_admin, segment
from gateway.cli.audit import print_events
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import json_option, plain, print_json, print_members, print_table

_TICKET = ("id", "epoch", "holder", "rule", "intent", "attempt", "deadline")


@click.group("resources", cls=ListsFirst)
def command() -> None:
    """List, show, advance, pause and resume the resources of a running gateway.

    Its admin token: FENCEGATE_ADMIN_TOKEN.
    """


@command.command("list")
@click.argument("prefix", default="")
@admin_option
@json_option
def list_resources(prefix: str, admin: str, *, as_json: bool) -> None:
    """Show the resources whose names begin with PREFIX; without one, all."""
    items = list(read_admin(admin).items("/api/v1/resources", {"prefix": prefix}))
    if as_json:
        print_json(items)
    elif items:
        columns = ("resource", "epoch", "holder", "in_flight", "older_in_flight")
        heads = ("RESOURCE", "EPOCH", "HOLDER", "IN FLIGHT", "OLDER")
        print_table(heads, (tuple(map(item.get, columns)) for item in items))
    else:
        click.echo("No such resource has been written or leased yet.")


@command.command("show")
@click.argument("resource")
@admin_option
@json_option
def show_resource(resource: str, admin: str, *, as_json: bool) -> None:
    """Show one resource: its epoch, holder, lease, pause, the writes in flight, and what happened last."""
    found = read_admin(admin).get(_path(resource))
    if as_json:
        print_json(found)
    else:
        _print_resource(found)


@command.command("advance")
@click.argument("resource")
@click.option("--epoch", help="The new epoch.  [the next one]")
@admin_option
@json_option
def advance_resource(resource: str, epoch: str | None, admin: str, *, as_json: bool) -> None:
    """Raise the epoch of RESOURCE: whoever writes it now is refused from here on."""
    answer = read_admin(admin).post(f"{_path(resource)}/advance", {"epoch": epoch} if epoch else {})
    if as_json:
        print_json(answer)
    else:
        click.echo(f"{plain(resource)} is at epoch {answer['epoch']}; every older one is refused.")


@command.command("pause")
@click.argument("resource")
@click.option("--reason", required=True, help="For whoever finds it paused.")
@admin_option
@json_option
def pause_resource(resource: str, reason: str, admin: str, *, as_json: bool) -> None:
    """Stop all writes of RESOURCE at once, through every gateway. What is in flight ends as it would."""
    pause = read_admin(admin).post("/api/v1/pauses", {"resource": resource, "reason": reason})
    if as_json:
        print_json(pause)
        return
    click.echo(f"{plain(resource)} is paused since {pause['created_at']}: {plain(pause['reason'])}")
    click.echo(f"To let it go on: fencegate resources resume {shlex.quote(plain(resource))}")


@command.command("resume")
@click.argument("resource")
@admin_option
@json_option
def resume_resource(resource: str, admin: str, *, as_json: bool) -> None:
    """Let the writes of a paused RESOURCE go on."""
    api = read_admin(admin)
    found = list(api.items("/api/v1/pauses", {"resource": resource}))
    if not found:
        raise click.ClickException(f"{plain(resource)} is not paused. Look for a slip in its name.")
    pause = api.delete("/api/v1/pauses/" + segment(str(found[0]["id"])))
    if as_json:
        print_json(pause)
    else:
        click.echo(f"{plain(resource)} goes on; it was paused since {pause['created_at']}: {plain(pause['reason'])}")


def _print_resource(found: Item) -> None:
    tickets, events = found["tickets"], found["events"]
    print_members({name: value for name, value in found.items() if name not in ("tickets", "events")})
    if isinstance(tickets, list) and tickets:
        click.echo("\nIn flight:")
        print_table([name.upper() for name in _TICKET], (tuple(map(ticket.get, _TICKET)) for ticket in tickets))
    if isinstance(events, list) and events:
        click.echo("\nWhat happened last, the newest first:")
        print_events(events)


def _path(resource: str) -> str:
    return "/api/v1/resources/" + segment(resource)
