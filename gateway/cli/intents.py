"""`fencegate intents`: what became of intents, and an operator's word on those that are unknown, failed or applied."""

import click

from gateway.cli.admin_api import AdminApi, admin_option, limit_option, read_admin
from gateway.cli.asking import confirm, yes_option
from gateway.cli.audit import print_events
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import Item, columns, json_option, plain, print_json, print_list, print_members
from gateway.cli.requests import SHOWN_BODY, exported, named, path_of, print_body, print_fields, print_request

_STATES = (
    "unknown", "applied", "not_applied", "in_flight", "awaiting_approval", "queued", "denied", "expired", "superseded",
    "failed", "compensating", "compensated",
)  # fmt: skip
_HEADS = ("RESOURCE", "KEY", "RULE", "EPOCH", "HOLDER", "ATTEMPTS", "REASON")
_CONSEQUENCES = {
    "applied": "It counts as done: whoever repeats it is told so, and nothing is sent.",
    "not_applied": "It counts as not done, and its key is free: whoever repeats it SENDS IT AGAIN.",
}

_SINCE: dict[object, str] = {
    True: "The resource WAS WRITTEN SINCE: look first whether that would be taken back too.",
    False: "The resource was not written since.",
    None: "Whether the resource was written since is no longer known.",
}


@click.group("intents", cls=ListsFirst)
def command() -> None:
    """List, show, resolve, retry and compensate a running gateway's intents. Its admin token: FENCEGATE_ADMIN_TOKEN."""


@command.command("list")
@click.option(
    "--state", type=click.Choice(_STATES), default="unknown", help="[unknown: nobody knows what became of it]"
)
@limit_option
@admin_option
@json_option
def list_intents(state: str, limit: int, admin: str, *, as_json: bool) -> None:
    """Show the intents of a state, the newest first. A write without a key is shown too, while it is in doubt."""
    items = read_admin(admin).newest("/api/v1/intents", {"state": state}, limit)
    instant, head = ("deadline", "UNTIL") if state == "in_flight" else ("updated_at", "SINCE")
    members = columns(("id", instant, *(name.lower() for name in _HEADS)))
    print_list(items, ("ID", head, *_HEADS), members, f"No intent is {state}.", as_json=as_json)


@command.command("show")
@click.argument("intent", metavar="ID")
@admin_option
@json_option
def show_intent(intent: str, admin: str, *, as_json: bool) -> None:
    """Show one intent: what became of it, its answer as far as it is kept, and its steps."""
    found = read_admin(admin).get(path_of(intent))
    if as_json:
        print_json(found)
    else:
        _print_intent(found)


@command.command("resolve")
@click.argument("intent", metavar="ID")
@click.option("--applied", is_flag=True, help="It happened. Whoever repeats it is told so.")
@click.option("--not-applied", is_flag=True, help="It did not happen. Whoever repeats it sends it again.")
@click.option("--note", required=True, help="What you found out, and where: it is kept with the intent.")
@click.option(
    "--attempt",
    type=click.IntRange(min=0),
    metavar="N",
    help="The `attempts` that `show` had when you looked: one that began since is refused. [the newest]",
)
@yes_option
@admin_option
@json_option
def resolve_intent(intent: str, note: str, attempt: int | None, admin: str, *, as_json: bool, **flags: bool) -> None:
    """Say what became of an intent that is unknown. Look first at what its upstream did: this cannot be taken back."""
    if flags["applied"] == flags["not_applied"]:
        raise click.UsageError("Say either --applied or --not-applied.")
    outcome = "applied" if flags["applied"] else "not_applied"
    api, path = read_admin(admin), path_of(intent)
    found = api.get(path)
    _announce(found, outcome)
    confirm("Resolve it?", yes=flags["yes"])
    about = found["attempts"] if attempt is None else attempt
    resolved = api.post(f"{path}/resolve", {"outcome": outcome, "note": note, "attempt": about})
    if as_json:
        print_json(resolved)
    else:
        click.echo(f"{plain(resolved['id'])} is {resolved['state']}.")


@command.command("retry")
@click.argument("intent", metavar="ID")
@click.option("--note", required=True, help="Why it may work now: it is kept with the intent.")
@click.option(
    "--digest",
    metavar="DIGEST",
    help="That of the request that was looked at, as `show` has it; another one is refused. [the newest]",
)
@admin_option
@json_option
def retry_intent(intent: str, note: str, digest: str | None, admin: str, *, as_json: bool) -> None:
    """Queue again what has failed: the same request, under its own epoch."""
    api, path = read_admin(admin), path_of(intent)
    found = api.get(path)
    about = found.get("digest") if digest is None else digest
    document: dict[str, object] = {"note": note}
    queued = api.post(f"{path}/retry", document if about is None else document | named(found, str(about)))
    if as_json:
        print_json(queued)
    else:
        click.echo(f"{plain(queued['id'])} is {queued['state']}.")


@command.command("compensate")
@click.argument("intent", metavar="ID")
@click.option("--note", required=True, help="Why it is taken back: it is kept with the intent.")
@yes_option
@admin_option
@json_option
def compensate_intent(intent: str, note: str, admin: str, *, yes: bool, as_json: bool) -> None:
    """Take an applied intent back: the request that its rule has for that is sent, once. This cannot be taken back."""
    api, path = read_admin(admin), path_of(intent)
    _announce_compensation(api, api.get(path))
    confirm("Send it?", yes=yes)
    compensated = api.post(f"{path}/compensate", {"note": note})
    if as_json:
        print_json(compensated)
    else:
        click.echo(f"{plain(compensated['id'])} is {compensated['state']}{_why(compensated)}")
        if compensated["state"] == "compensating":
            _tell_in_doubt(api, compensated)


def _why(found: Item) -> str:
    """Its reason, where that is not the state's own name."""
    return "." if found["reason"] == found["state"] else f": {plain(found['reason'])}"


def _tell_in_doubt(api: AdminApi, found: Item) -> None:
    """Of one whose compensation is under way, or was sent and not answered: what nobody asks the upstream about."""
    by = found.get("compensated_by")
    undo = api.get(path_of(str(by))) if by else None
    if undo is None or undo["state"] != "unknown":
        return
    resolving = f"fencegate intents resolve {plain(by)} --applied --note TEXT"
    click.echo(
        f"Whether it was taken back is NOT KNOWN: {plain(undo['reason'])}. Nobody asks the upstream by itself. Look "
        f"there, then: {resolving} (or --not-applied, and compensate it again).",
        err=True,
    )


def _announce_compensation(api: AdminApi, found: Item) -> None:
    what, compensation = plain(found.get("target") or found["rule"]), found.get("compensation")
    click.echo(f"{what}, of {plain(found['resource'])}, is {found['state']}.", err=True)
    request = compensation.get("request") if isinstance(compensation, dict) else None
    if found["state"] == "compensating":
        _tell_in_doubt(api, found)
    if found["state"] != "applied" or not isinstance(request, dict):
        return
    line = f"{request['method']} {request['target']}"
    click.echo(f"To take it back is sent, with the upstream's credentials: {plain(line)}", err=True)
    if request.get("body"):
        click.echo(f"  with the body {plain(str(request['body'])[:SHOWN_BODY])}", err=True)
    click.echo(_SINCE[found.get("written_since")], err=True)


def _announce(found: Item, outcome: str) -> None:
    what = plain(found.get("target") or found["rule"])
    click.echo(f"{what}, of {plain(found['resource'])}, is {found['state']}: {plain(found['reason'])}", err=True)
    if found["state"] == "unknown":
        click.echo(_CONSEQUENCES[outcome], err=True)
        if outcome == "not_applied" and found.get("request") is not None:
            click.echo(_sent_again(found), err=True)


def _sent_again(found: Item) -> str:
    """Who else may have it sent."""
    if found.get("approval") is not None:
        return "Its approval is used up: whoever repeats it waits until somebody approves it again."
    return f"It was queued: `fencegate intents retry {plain(found['id'])}` sends it again too."


def _print_intent(found: Item) -> None:
    apart = ("response", "request", "compensation", "events")
    print_members({name: value for name, value in found.items() if name not in apart})
    response, events, request = found.get("response"), found["events"], found.get("request")
    if isinstance(request, dict):
        click.echo("\nIts request:")
        print_request(request, exported(found))
    _print_compensation(found.get("compensation"))
    if isinstance(response, dict):
        click.echo(f"\nIts answer, as repeats get it: status {response['status']}")
        print_fields(response["headers"])
        print_body(response.get("body"))
    if isinstance(events, list) and events:
        click.echo("\nIts steps, the newest first:")
        print_events(events)


def _print_compensation(compensation: object) -> None:
    if not isinstance(compensation, dict):
        return
    request = compensation.get("request")
    if isinstance(request, dict):
        click.echo("\nWhat takes it back:")
        print_request(request)
    else:
        click.echo(f"\nNothing takes it back: {plain(compensation['unavailable'])}")
