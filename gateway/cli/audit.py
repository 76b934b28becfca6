"""`fencegate audit`: what happened to writes, step by step, through a running gateway's admin API."""

from collections.abc import Iterable

import click

from gateway.cli.admin_api import Item, admin_option, limit_option, read_admin
from gateway.cli.output import json_option, print_json, print_table

_HEADS = ("AT", "STEP", "RESOURCE", "INTENT", "EPOCH", "HOLDER", "BY", "REASON")


@click.command("audit")
@click.option("--resource", metavar="R", help="Only of this resource.")
@click.option("--intent", metavar="ID", help="Only of this intent.")
@click.option("--since", metavar="TIME", help="Not older than 1h, 7d or 2026-03-01T08:00:00Z.")
@limit_option
@admin_option
@json_option
def command(limit: int, admin: str, *, as_json: bool, **sought: str | None) -> None:
    """Show the audit trail, the newest step first. The gateway's admin token: FENCEGATE_ADMIN_TOKEN."""
    events = read_admin(admin).newest("/api/v1/audit", sought, limit)
    if as_json:
        print_json(events)
    elif events:
        print_events(events)
    else:
        click.echo("Nothing of this kind is in the audit trail; old events leave it.")


def print_events(events: Iterable[Item]) -> None:
    """A table of steps."""
    print_table(_HEADS, ((event["at"], _step(event), *map(event.get, _SHOWN)) for event in events))


_SHOWN = ("resource", "intent", "epoch", "holder", "by", "reason")


def _step(event: Item) -> str:
    before, after = event["from"], event["to"]
    return str(after) if before in (None, after) else f"{before} > {after}"
