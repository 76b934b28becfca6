"""`fencegate resources`: what a running gateway knows of its resources, through its admin API."""

import contextlib
import shlex

import click

from gateway.cli.admin_api import admin_option, read_admin, segment
from gateway.cli.asking import confirm, yes_option
from gateway.cli.audit import print_events
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import (
    Item,
    columns,
    json_option,
    plain,
    print_json,
    print_list,
    print_members,
    print_table,
    tell_incomplete,
)
from gateway.cli.progress import Progress

_HEADS = ("RESOURCE", "EPOCH", "HOLDER", "IN FLIGHT", "OLDER")
_COLUMNS = ("resource", "epoch", "holder", "in_flight", "older_in_flight")
_TICKET = ("id", "epoch", "holder", "rule", "intent", "attempt", "deadline", "unfinished")


@click.group("resources", cls=ListsFirst)
def command() -> None:
    """List, show, advance, reset, pause, resume and prune the resources of a running gateway.

    Its admin token: FENCEGATE_ADMIN_TOKEN.
    """


@command.command("list")
@click.argument("prefix", default="")
@admin_option
@json_option
def list_resources(prefix: str, admin: str, *, as_json: bool) -> None:
    """Show the resources whose names begin with PREFIX; without one, all."""
    items = list(read_admin(admin).items("/api/v1/resources", {"prefix": prefix}))
    nothing = "No such resource has been written or leased yet."
    print_list(items, _HEADS, columns(_COLUMNS), nothing, as_json=as_json)


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
@click.option("--epoch", metavar="N", help="The new epoch.  [the next one]")
@admin_option
@json_option
def advance_resource(resource: str, epoch: str | None, admin: str, *, as_json: bool) -> None:
    """Raise the epoch of RESOURCE: whoever writes it now is refused from here on."""
    answer = read_admin(admin).post(f"{_path(resource)}/advance", {"epoch": epoch} if epoch else {})
    if as_json:
        print_json(answer)
    else:
        click.echo(f"{plain(resource)} is at epoch {answer['epoch']}; every older one is refused.")


@command.command("reset")
@click.argument("resource")
@click.option("--note", required=True, help="Why: the audit trail keeps it.")
@yes_option
@admin_option
@json_option
def reset_resource(resource: str, note: str, admin: str, *, yes: bool, as_json: bool) -> None:
    """Forget the epoch of RESOURCE, where it has no larger one left; refused while a write of it waits or is in flight.

    Any epoch begins anew then. Leases from before stay dead; under `header` and `signed` authority whoever comes with
    an older epoch is let in again: make sure that nobody has one.
    """
    api = read_admin(admin)
    document: dict[str, object] = {"note": note}
    # After a loss there may be nothing to be shown.
    with contextlib.suppress(click.ClickException):
        document["epoch"] = str(api.get(_path(resource))["epoch"])
    which = f", {document['epoch']}" if "epoch" in document else ""
    confirm(f"Forget the epoch of {plain(resource)}{which}? Whoever comes next begins anew.", yes=yes)
    answer = api.post(f"{_path(resource)}/reset", document)
    if as_json:
        print_json(answer)
    else:
        click.echo(f"{plain(resource)} has no epoch any more; it was at {answer['forgotten_epoch']}.")


@command.command("prune")
@click.argument("prefix", default="")
@click.option("--dry-run", is_flag=True, help="Only count what would go.")
@admin_option
@json_option
def prune_resources(prefix: str, admin: str, *, dry_run: bool, as_json: bool) -> None:
    """Collect the records of resources whose names begin with PREFIX, of all without one, to make room in the store.

    A record goes where its lease has ended and was granted more than a day ago, and nothing else is known of the
    resource: no write that waits, pause, held unknown write or counted revision. Its tokens are dead as before.
    """
    api, looked_at, pruned, cursor = read_admin(admin), 0, 0, None
    with Progress("records looked at") as progress:
        while True:
            asked: dict[str, object] = {"prefix": prefix, "dry_run": dry_run, "cursor": cursor}
            found = api.post("/api/v1/resources/prune", asked)
            looked_at, pruned = looked_at + _count(found, "looked_at"), pruned + _count(found, "pruned")
            cursor = found["next"]
            progress.show(looked_at)
            if "incomplete" in found:
                tell_incomplete(found["incomplete"])
            if cursor is None:
                break
    if as_json:
        print_json({"looked_at": looked_at, "pruned": pruned})
    else:
        click.echo(f"{pruned} of {looked_at} records {'would go' if dry_run else 'went'}.")


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


def _count(found: Item, name: str) -> int:
    number = found[name]
    assert isinstance(number, int)
    return number


def _path(resource: str) -> str:
    return "/api/v1/resources/" + segment(resource)
