"""`fencegate approvals`: what waits until somebody has looked at it, and that somebody's word."""

import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

import click

from gateway.cli.admin_api import AdminApi, admin_option, limit_option, read_admin
from gateway.cli.asking import yes_option
from gateway.cli.export import export, output_option
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import Item, columns, json_option, plain, print_json, print_list, print_members
from gateway.cli.requests import exported, named, path_of, print_request

_COLUMNS = ("id", "target", "resource", "rule", "risk", "principal", "holder", "created_at")
_HEADS = ("ID", "REQUEST", "RESOURCE", "RULE", "RISK", "FROM", "HOLDER", "SINCE", "NOTE", "DIGEST")
_SHOWN = (
    *("target", "principal", "holder", "risk", "rule", "upstream", "resource", "epoch", "key", "digest"),
    *("approval", "overtaken"),
)
_SENT_AT_ONCE = "Approve it? It is then SENT at once, as shown."
_NEVER_SENT = "it is never sent, and whoever repeats it is told so"

note_option = click.option("--note", required=True, help="Why: it is kept with the intent.")
digest_option = click.option(
    "--digest",
    metavar="DIGEST",
    help="That of the request that was looked at, as `show` has it; another one is refused.",
)


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
    """Show what waits for an approval, the newest first. `overtaken`: a newer epoch rules its resource by now; it can
    be approved only once the new holder repeats it.
    """
    items = read_admin(admin).newest("/api/v1/intents", {"state": "awaiting_approval"}, limit)
    print_list(items, _HEADS, _row, "Nothing waits for an approval.", as_json=as_json)


@command.command("export")
@click.argument("intent", metavar="ID")
@digest_option
@output_option
@admin_option
def export_body(intent: str, digest: str | None, output: Path | None, admin: str) -> None:
    """Write the body of what would be sent, byte for byte: a large one, or one that is no text, is not shown."""
    query = "" if digest is None else f"?{urlencode({'digest': digest}, errors='replace')}"
    export(read_admin(admin), f"{path_of(intent)}/body{query}", output)


@command.command("show")
@click.argument("intent", metavar="ID")
@admin_option
@json_option
def show_awaited(intent: str, admin: str, *, as_json: bool) -> None:
    """Show one with its request: what would be sent, but for the upstream's own credentials."""
    found = read_admin(admin).get(path_of(intent))
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
    """Have it sent, once, as it was shown. This cannot be taken back.

    On a terminal, without --digest, the request is shown first. A script names the digest that somebody has looked at.
    """
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
    asks = not yes and not as_json and sys.stdin.isatty()
    if verdict.word == "approve" and verdict.digest is None and not asks:
        raise click.UsageError("Name the request that was looked at: --digest, as `fencegate approvals show` has it.")
    path = path_of(verdict.intent)
    document: dict[str, object] = {"note": verdict.note}
    found = api.get(path)
    digest = _ask(found, verdict) if asks else verdict.digest
    document |= {} if digest is None else named(found, digest)
    decided = api.post(f"{path}/{verdict.word}", document)
    if as_json:
        print_json(decided)
    else:
        click.echo(f"{plain(decided.get('target'))}, of {plain(decided['resource'])}:", err=True)
        click.echo(f"{plain(decided['id'])} is {decided['state']}: {_came_of_it(decided, verdict)}.")


def _came_of_it(decided: Item, verdict: _Verdict) -> str:
    if verdict.word == "deny":
        return _NEVER_SENT
    held = _held(decided)
    return f"{held}; it is sent when that ends, once" if held else "it is sent at once, once"


def _question(found: Item, verdict: _Verdict) -> str:
    if verdict.word == "deny":
        return "Deny it? It is then never sent."
    held = _held(found)
    return f"Approve it? {held[0].upper()}{held[1:]}; when that ends it is SENT, as shown." if held else _SENT_AT_ONCE


def _held(found: Item) -> str | None:
    """The pause that keeps it from being sent."""
    held = found.get("held_by")
    return f"pause {plain(held['id'])} holds it ({plain(held['stops'])})" if isinstance(held, dict) else None


def _ask(found: Item, verdict: _Verdict) -> str | None:
    """Show the request, and ask; returns the digest of the one that is decided about."""
    _print_awaited(found)
    if found["state"] != "awaiting_approval":
        click.echo(f"It is {found['state']}, and does not wait for an approval.", err=True)
    click.confirm(_question(found, verdict), abort=True, err=True)
    if verdict.digest is not None:
        return verdict.digest
    shown = found.get("digest")
    return None if shown is None else str(shown)


def _print_awaited(found: Item) -> None:
    request = found.get("request")
    if isinstance(request, dict):
        print_request(request, exported(found))
        click.echo("")
    print_members({name: found.get(name) for name in ("id", "state", *_SHOWN, "reason")})


def _row(item: Item) -> tuple[object, ...]:
    return *columns(_COLUMNS)(item), "overtaken" if item.get("overtaken") else None, item.get("digest")
