"""`fencegate quarantine`: what came too late and was kept, to be looked at, taken out and dropped."""

from pathlib import Path

import click

from gateway.cli.admin_api import admin_option, limit_option, read_admin, segment
from gateway.cli.audit import print_events
from gateway.cli.export import export, output_option
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import Item, columns, heads_of, json_option, plain, print_json, print_list, print_members
from gateway.cli.requests import print_head, print_text

_PATH = "/api/v1/quarantine"
_COLUMNS = ("id", "received_at", "resource", "rule", "decision", "epoch", "holder", "principal", "size")


@click.group("quarantine", cls=ListsFirst)
def command() -> None:
    """List, show, export and drop what came too late, of rules with `on_stale: quarantine`.

    The gateway's admin token: FENCEGATE_ADMIN_TOKEN.
    """


@command.command("list")
@click.option("--resource", metavar="R", help="Of this resource only.")
@click.option("--rule", metavar="NAME", help="Of rules of this name only.")
@limit_option
@admin_option
@json_option
def list_late(resource: str | None, rule: str | None, limit: int, admin: str, *, as_json: bool) -> None:
    """Show what is in quarantine, the newest first. A body without a size was not kept."""
    items = read_admin(admin).newest(_PATH, {"resource": resource, "rule": rule}, limit)
    print_list(items, heads_of(_COLUMNS), columns(_COLUMNS), "Nothing is in quarantine.", as_json=as_json)


@command.command("show")
@click.argument("late", metavar="ID")
@admin_option
@json_option
def show_late(late: str, admin: str, *, as_json: bool) -> None:
    """Show one late result with its request: as it came, without what proved who sent it."""
    found = read_admin(admin).get(_path(late))
    if as_json:
        print_json(found)
    else:
        _print_late(found)


@command.command("export")
@click.argument("late", metavar="ID")
@output_option
@admin_option
def export_body(late: str, output: Path | None, admin: str) -> None:
    """Write the body of a late result, byte for byte, as it came."""
    export(read_admin(admin), f"{_path(late)}/body", output)


@command.command("drop")
@click.argument("late", metavar="ID")
@click.option("--note", required=True, help="Why it is not needed: the audit trail keeps it.")
@admin_option
@json_option
def drop_late(late: str, note: str, admin: str, *, as_json: bool) -> None:
    """Take a late result out of quarantine for good. Export it first if it may be needed."""
    dropped = read_admin(admin).delete(_path(late), {"note": note})
    if as_json:
        print_json(dropped)
    else:
        click.echo(f"{plain(dropped['id'])}, of {plain(dropped['resource'])}, is dropped.")


def _print_late(found: Item) -> None:
    request, events = found["request"], found["events"]
    assert isinstance(request, dict) and isinstance(events, list)
    print_members({name: value for name, value in found.items() if name not in ("request", "events")})
    click.echo("")
    print_head(request)
    _print_body(found, request.get("body"))
    if events:
        click.echo("\nIts steps, the newest first:")
        print_events(events)


def _print_body(found: Item, body: str | None) -> None:
    if found["truncated"]:
        click.echo("\n  its body was not kept: it was too large, or its sender left")
    elif body is None:
        click.echo(f"\n  a body of {found['size']} bytes: `fencegate quarantine export {found['id']} -o FILE`")
    else:
        click.echo("")
        print_text(body, "`export` has all")


def _path(late: str) -> str:
    return f"{_PATH}/{segment(late)}"
