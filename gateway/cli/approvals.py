"""`fencegate approvals`: what waits until somebody has looked at it, and that somebody's word."""

import sys
from dataclasses import dataclass

import click

from gateway.cli.admin_api import AdminApi, Item, admin_option, limit_option, read_admin, segment
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import json_option, plain, print_json, print_members, print_table
from gateway.cli.requests import print_request

_COLUMNS = ("id", "target", "resource", "rule", "risk", "principal", "holder", "created_at")
_HEADS = ("ID", "REQUEST", "RESOURCE", "RULE", "RISK", "FROM", "HOLDER", "SINCE")
_SHOWN = ("target", "principal", "holder", "risk", "rule", "upstream", "resource", "epoch", "key", "digest", "approval")
_CONSEQUENCES = {
    "approve": "It is SENT at once, as shown.",
    "deny": "It is never sent: whoever repeats it is told so.",
}

note_option = click.option("--note", required=True, help="Why: it is kept with the intent.")
yes_option = click.option("--yes", is_flag=True, help="Do not ask, on a terminal either.")
digest_option = click.option("--digest", metavar="DIGEST", help="The request that was looked at; another is refused.")


@click.group("approvals", cls=ListsFirst)
def command() -> None:
    """List, show, approve and deny what waits for an approval, of rules with `approval: required`.

    The gateway's admin token: FENCEGATE_ADMIN_TOKEN. Where there are principals, the approver's key: FENCEGATE_KEY.
    """


@command.command("list")
@limit_option
@admin_option
@json_option
def list_awaited(limit: int, admin: str, *, as_json: bool) -> None:
    """Show what waits for an approval, the newest first."""
    items = read_admin(admin).newest("/api/v1/intents", {"state": "awaiting_approval"}, limit)
    if as_json:
        print_json(items)
    elif items:
        print_table(_HEADS, (tuple(map(item.get, _COLUMNS)) for item in items))
    else:
        click.echo("Nothing waits for an approval.")


@command.command("show")
@click.argument("intent", metavar="ID")
@admin_option
@json_option
def show_awaited(intent: str, admin: str, *, as_json: bool) -> None:
    """Show one with its request: what would be sent, but for the upstream's own credentials."""
    found = read_admin(admin).get(_path(intent))
    if as_json:
        print_json(found)
    else:
        _print_awaited(found)


@command.command("approve")
@click.argument("intent", metavar="ID")
@note_option
@digest_option
@yes_option
@admin_option
@json_option
def approve(intent: str, note: str, digest: str | None, admin: str, *, yes: bool, as_json: bool) -> None:
    """Have it sent, once, as it was shown. This cannot be taken back."""
    _decide(read_admin(admin), _Verdict("approve", intent, note, digest), yes=yes, as_json=as_json)


@command.command("deny")
@click.argument("intent", metavar="ID")
@note_option
@digest_option
@yes_option
@admin_option
@json_option
def deny(intent: str, note: str, digest: str | None, admin: str, *, yes: bool, as_json: bool) -> None:
    """Have it never sent. The agent that made the request is told, with the note."""
    _decide(read_admin(admin), _Verdict("deny", intent, note, digest), yes=yes, as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Verdict:
    word: str
    intent: str
    note: str
    digest: str | None


def _decide(api: AdminApi, verdict: _Verdict, *, yes: bool, as_json: bool) -> None:
    """What is decided is the request that was shown here, unless another one is named."""
    path = _path(verdict.intent)
    found = api.get(path)
    document: dict[str, object] = {"note": verdict.note}
    digest = verdict.digest or found.get("digest")
    if digest is not None:
        document["digest"] = digest
    click.echo(f"{plain(found.get('target'))}, of {plain(found['resource'])}, is {found['state']}.", err=True)
    if found["state"] == "awaiting_approval":
        click.echo(_CONSEQUENCES[verdict.word], err=True)
    # A script has nobody to ask; what it says it means.
    if not yes and sys.stdin.isatty():
        click.confirm(f"{verdict.word.capitalize()} it?", abort=True, err=True)
    decided = api.post(f"{path}/{verdict.word}", document)
    if as_json:
        print_json(decided)
    else:
        click.echo(f"{plain(decided['id'])} is {decided['state']}.")


def _print_awaited(found: Item) -> None:
    request = found.get("request")
    if isinstance(request, dict):
        print_request(request)
        click.echo("")
    print_members({name: found.get(name) for name in ("id", "state", *_SHOWN, "reason")})


def _path(intent: str) -> str:
    return "/api/v1/intents/" + segment(intent)
