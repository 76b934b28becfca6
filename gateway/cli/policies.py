"""`fencegate policies`: those in force at a running gateway, through its admin API."""

import click

from gateway.cli.admin_api import admin_option, read_admin
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import json_option, print_json, print_table

_PATH = "/api/v1/policies"


@click.group("policies", cls=ListsFirst)
def command() -> None:
    """List the policies that a running gateway has in force, and have it read them again.

    The gateway's admin token: FENCEGATE_ADMIN_TOKEN.
    """


@command.command("list")
@admin_option
@json_option
def list_policies(admin: str, *, as_json: bool) -> None:
    """Show the rules in force, with their upstreams."""
    items = list(read_admin(admin).items(_PATH, {}))
    if as_json:
        print_json(items)
        return
    rows = []
    for item in items:
        rules = item["rules"]
        assert isinstance(rules, list)
        rows += [(item["upstream"], item["url"], rule["name"], rule["resource"], rule["mode"]) for rule in rules]
    print_table(("UPSTREAM", "URL", "RULE", "RESOURCE", "MODE"), rows)


@command.command("reload")
@admin_option
@json_option
def reload_policies(admin: str, *, as_json: bool) -> None:
    """Have the files read now: all of them come into force, or none. Those that change are read by themselves too."""
    answer = read_admin(admin).post(f"{_PATH}/reload", {})
    if as_json:
        print_json(answer)
    else:
        click.echo("They are in force.")
