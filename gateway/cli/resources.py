"""`fencegate resources`: what a running gateway knows of its resources, through its admin API."""

from collections.abc import Iterator, Mapping
from urllib.parse import quote, urlencode

import click

from gateway.cli.admin_api import AdminApi, admin_option, read_admin
from gateway.cli.output import json_option, print_json


@click.group("resources")
def command() -> None:
    """List, show and advance the resources of a running gateway. Its admin token: FENCEGATE_ADMIN_TOKEN."""


@command.command("list")
@click.argument("prefix", default="")
@admin_option
@json_option
def list_resources(prefix: str, admin: str, *, as_json: bool) -> None:
    """Show the resources whose names begin with PREFIX; without one, all."""
    items = list(_all_items(read_admin(admin), prefix))
    if as_json:
        print_json(items)
        return
    for item in items:
        click.echo(f"{item['resource']}  epoch {item['epoch']}  {_holder(item)}")
    if not items:
        click.echo("No such resource has been written or leased yet.")


@command.command("show")
@click.argument("resource")
@admin_option
@json_option
def show_resource(resource: str, admin: str, *, as_json: bool) -> None:
    """Show one resource: its epoch, holder, lease, and the writes in flight."""
    found = read_admin(admin).get(_path(resource))
    if as_json:
        print_json(found)
        return
    for name, value in found.items():
        click.echo(f"{name:<16}{'none' if value in (None, []) else value}")


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
        click.echo(f"{resource} is at epoch {answer['epoch']}; every older one is refused.")


def _all_items(api: AdminApi, prefix: str) -> Iterator[Mapping[str, object]]:
    cursor: object = ""
    while cursor is not None:
        query = {"prefix": prefix} | ({"cursor": str(cursor)} if cursor else {})
        page = api.get("/api/v1/resources?" + urlencode(query))
        items = page["items"]
        assert isinstance(items, list)
        yield from items
        cursor = page["next"]


def _path(resource: str) -> str:
    return "/api/v1/resources/" + quote(resource, safe="")


def _holder(item: Mapping[str, object]) -> str:
    return f"holder {item['holder']}" if item["holder"] else "no holder"
