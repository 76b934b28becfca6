"""`fencegate budgets`: how much of the rules' budgets is used, through a running gateway's admin API."""

import click

from gateway.cli.admin_api import admin_option, limit_option, read_admin
from gateway.cli.output import Item, json_option, print_list

_PATH = "/api/v1/budgets"
_UNITS = {"d": 86_400, "h": 3600, "m": 60}
_HEADS = ("RULE", "PER", "BY", "WITHIN", "COUNT", "TOTAL", "OLDEST LEAVES")


@click.command("budgets")
@click.option("--upstream", metavar="NAME", help="Of the rules of this upstream.")
@click.option("--rule", metavar="NAME", help="Of the rules of this name.")
@limit_option
@admin_option
@json_option
def command(upstream: str | None, rule: str | None, limit: int, admin: str, *, as_json: bool) -> None:
    """Show what is used of the budgets of a running gateway's rules. Its admin token: FENCEGATE_ADMIN_TOKEN."""
    items = read_admin(admin).newest(_PATH, {"upstream": upstream, "rule": rule}, limit)
    print_list(items, _HEADS, _row, "Nothing is used of any budget.", as_json=as_json)


def _row(item: Item) -> tuple[object, ...]:
    return (
        f"{item['upstream']}/{item['rule']}",
        *(item["per"], item["by"], _window(item["window_s"])),
        _of(item["count"], item["count_limit"]),
        None if item["total"] is None else _of(item["total"], item["total_limit"]),
        item["oldest_leaves_at"],
    )


def _window(seconds: object) -> str:
    """As policies spell it."""
    assert isinstance(seconds, int | float)
    for unit, length in _UNITS.items():
        if seconds % length == 0:
            return f"{seconds / length:g}{unit}"
    return f"{seconds:g}s"


def _of(used: object, limit: object) -> str:
    return str(used) if limit is None else f"{used} of {limit}"
