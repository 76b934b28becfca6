"""`fencegate pauses`: the emergency stop, through a running gateway's admin API."""

import click

from gateway.cli.admin_api import admin_option, limit_option, read_admin, segment
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import Item, json_option, plain, print_json, print_list

_PATH = "/api/v1/pauses"
_SELECTORS = ("upstream", "rule", "resource", "tenant", "holder")


@click.group("pauses", cls=ListsFirst)
def command() -> None:
    """List, begin and end pauses. What is paused is refused by every gateway of the store within a second.

    The gateway's admin token: FENCEGATE_ADMIN_TOKEN.
    """


@command.command("list")
@limit_option
@admin_option
@json_option
def list_pauses(limit: int, admin: str, *, as_json: bool) -> None:
    """Show the pauses in force, the newest first."""
    items = read_admin(admin).newest(_PATH, {}, limit)
    print_list(items, ("ID", "SINCE", "BY", "STOPPED", "REASON"), _row, "Nothing is paused.", as_json=as_json)


@command.command("add")
@click.option("--upstream", metavar="NAME", help="All writes of this upstream; with --rule, where the rule is.")
@click.option("--rule", metavar="NAME", help="All writes of the rules of this name.")
@click.option("--resource", metavar="R", help="All writes of this resource.")
@click.option("--tenant", metavar="NAME", help="All writes of this tenant's principals.")
@click.option("--holder", metavar="NAME", help="All writes of this holder.")
@click.option("--all", "everything", is_flag=True, help="All writes there are.")
@click.option("--reason", required=True, help="For whoever finds it paused.")
@admin_option
@json_option
def begin_pause(reason: str, admin: str, *, everything: bool, as_json: bool, **named: str | None) -> None:
    """Stop writes at once, through every gateway. What is in flight ends as it would; reads and leases go on."""
    selector: dict[str, object] = {name: value for name, value in named.items() if value is not None}
    if everything:
        selector["all"] = True
    if len(selector) != 1 and selector.keys() != {"upstream", "rule"}:
        raise click.UsageError("Name one: --upstream, --rule (also within its --upstream), --resource, ... or --all.")
    pause = read_admin(admin).post(_PATH, {**selector, "reason": reason})
    if as_json:
        print_json(pause)
        return
    click.echo(f"Paused since {pause['created_at']}: {_stopped(pause)}: {plain(pause['reason'])}")
    click.echo(f"To let it go on: fencegate pauses end {pause['id']}")


@command.command("end")
@click.argument("pause", metavar="ID")
@admin_option
@json_option
def end_pause(pause: str, admin: str, *, as_json: bool) -> None:
    """Let the writes go on that no other pause stops."""
    ended = read_admin(admin).delete(f"{_PATH}/{segment(pause)}")
    if as_json:
        print_json(ended)
    else:
        click.echo(f"No longer paused: {_stopped(ended)}: {plain(ended['reason'])}")


def _row(pause: Item) -> tuple[object, ...]:
    return pause["id"], pause["created_at"], pause["by"], _stopped(pause), pause["reason"]


def _stopped(pause: Item) -> str:
    if pause.get("all"):
        return "all writes"
    return ", ".join(f"{name} {plain(pause[name])}" for name in _SELECTORS if name in pause)
