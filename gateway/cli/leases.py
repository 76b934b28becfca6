"""`fencegate leases`: who may write what, and until when, through a running gateway's admin API."""

import click

from gateway.cli.admin_api import admin_option, at_most, limit_option, read_admin
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import Item, json_option, print_list

_HEADS = ("RESOURCE", "HOLDER", "EPOCH", "UNTIL", "IN FLIGHT")


@click.group("leases", cls=ListsFirst)
def command() -> None:
    """List live leases. `fencegate resources advance RESOURCE` ends one.

    The gateway's admin token: FENCEGATE_ADMIN_TOKEN.
    """


@command.command("list")
@click.argument("prefix", default="")
@click.option("--holder", metavar="NAME", help="Only of this holder.")
@limit_option
@admin_option
@json_option
def list_leases(prefix: str, holder: str | None, limit: int, admin: str, *, as_json: bool) -> None:
    """Show the live leases of resources whose names begin with PREFIX; without one, of all."""
    resources = read_admin(admin).items("/api/v1/resources", {"prefix": prefix})
    live = (item for item in resources if item["lease"] is not None and holder in (None, item["holder"]))
    print_list(at_most(live, limit), _HEADS, _row, "There is no live lease of this kind.", as_json=as_json)


def _row(item: Item) -> tuple[object, ...]:
    lease = item["lease"]
    assert isinstance(lease, dict)
    return item["resource"], item["holder"], item["epoch"], lease["expires_at"], item["in_flight"]
