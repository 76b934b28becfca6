"""`fencegate store`: whether the store has lost acknowledged work, through a running gateway's admin API."""

import click

from gateway.cli.admin_api import admin_option, read_admin
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import Item, json_option, plain, print_json, print_table, tell_incomplete

_PATH = "/api/v1/store"
_TO_GO_ON = "To go on: fencegate store accept --note TEXT"
_GONE = (
    "Wide pauses that a running gateway still knew are back. Pauses of resources, what was quarantined, and what was "
    "used of budgets and quotas are as the store has them now: fencegate pauses; pause anew what has to stand still."
)


class _StatusFirst(ListsFirst):
    first = "status"


@click.group("store", cls=_StatusFirst)
def command() -> None:
    """Show whether the store has lost what it acknowledged, and go on where it has.

    The gateway's admin token: FENCEGATE_ADMIN_TOKEN.
    """


@command.command("status")
@admin_option
@json_option
def show_store(admin: str, *, as_json: bool) -> None:
    """Show each server of the store: its incarnation, what it lost last, and the marks of the gateways' processes."""
    store = read_admin(admin).get(_PATH)
    if "incomplete" in store:
        tell_incomplete(store["incomplete"])
    if as_json:
        print_json(store)
        return
    servers = store["servers"]
    assert isinstance(servers, list)
    for server in servers:
        _print_server(server)
    if store["regressed"]:
        click.echo(f"{_GONE}\n{_TO_GO_ON}")
    elif "incomplete" not in store:
        click.echo("Nothing is missing.")


@command.command("accept")
@click.option("--note", required=True, help="What you have looked at: the audit trail keeps it.")
@admin_option
@json_option
def accept_loss(note: str, admin: str, *, as_json: bool) -> None:
    """Let all writes go on. Leases from before the loss have ended for good; what waited in the store is unknown now.

    Before: look at `fencegate pauses`. Wide ones that a running gateway still knew are back; those of resources, what
    was quarantined and what budgets had counted may be gone.

    And make sure that agents do not repeat under the same key what was done in the time that was lost, and that
    systems which grant epochs themselves still know the newest ones.
    """
    api = read_admin(admin)
    found = api.get(_PATH)["servers"]
    assert isinstance(found, list)
    losses = [server["loss"] for server in found if server["loss"] is not None]
    floors = [int(loss["floor"]) for loss in losses if loss["accepted_at"] is None]
    # A call that comes late accepts no loss that was found since.
    accepted = api.post(f"{_PATH}/accept", {"note": note, "floor": str(max(floors, default=0))})
    if as_json:
        print_json(accepted)
        return
    click.echo(f"Accepted: writes go on. Agents need new leases.\n{_GONE}")
    if accepted["became_unknown"]:
        click.echo(f"{accepted['became_unknown']} intents that waited are unknown now: fencegate intents list")


def _print_server(server: Item) -> None:
    if server["away"] is not None:
        click.echo(f"server of shard {server['shard']}: does not answer ({plain(server['away'])})")
        return
    click.echo(f"server of shard {server['shard']}: incarnation {plain(server['incarnation'])}, {_since(server)}")
    loss, marks = server["loss"], server["marks"]
    assert isinstance(marks, list)
    if isinstance(loss, dict):
        click.echo(f"  went back in time, found at {loss['since']} by {plain(loss['by'])}: {plain(loss['why'])}")
        click.echo(f"  leases below {loss['floor']} have ended")
        if loss["accepted_at"] is not None:
            click.echo(f"  accepted at {loss['accepted_at']} by {plain(loss['accepted_by'])}: {plain(loss['note'])}")
    if marks:
        print_table(
            ("  PROCESS", "MARK", "AT"), ((f"  {mark['process']}", mark["number"], mark["made_at"]) for mark in marks)
        )


def _since(server: Item) -> str:
    return "not written to yet" if server["began_at"] is None else f"began at {server['began_at']}"
