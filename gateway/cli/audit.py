"""`fencegate audit`: what happened to writes and epochs, who was refused, and whether that is the truth."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from pathlib import Path

import click

from gateway.cli.admin_api import AdminApi, admin_option, limit_option, read_admin
from gateway.cli.audit_export import export_events
from gateway.cli.lists_first import ListsFirst
from gateway.cli.output import Item, counted, json_option, plain, print_json, print_list, print_table
from gateway.cli.progress import Progress

_PATH = "/api/v1/audit"
_HEADS = ("AT", "STEP", "RESOURCE", "INTENT", "RULE", "EPOCH", "HOLDER", "BY", "REASON")
# As many heads as a call takes; it goes through no more shards than half of that.
_HEADS_A_CALL = 512

resource_option = click.option("--resource", metavar="R", help="Only of this resource.")
intent_option = click.option("--intent", metavar="ID", help="Only of this intent.")
since_option = click.option("--since", metavar="TIME", help="Not older than 1h, 7d or 2026-03-01T08:00:00Z.")
until_option = click.option("--until", metavar="TIME", help="Not younger than 1h, 7d or 2026-03-01T08:00:00Z.")


@click.group("audit", cls=ListsFirst)
def command() -> None:
    """Show the audit trail: who wrote what, at which epoch, and what was refused; export it, and verify it.

    The gateway's admin token: FENCEGATE_ADMIN_TOKEN.
    """


@command.command("list")
@resource_option
@intent_option
@since_option
@until_option
@limit_option
@admin_option
@json_option
def list_events(limit: int, admin: str, *, as_json: bool, **sought: str | None) -> None:
    """Show events, the newest first."""
    events = read_admin(admin).newest(_PATH, sought, limit)
    nothing = "Nothing of this kind is in the audit trail; old events leave it."
    print_list(events, _HEADS, _row, nothing, as_json=as_json)


@command.command("export")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), required=True, help="A new file.")
@resource_option
@since_option
@until_option
@admin_option
def export(output: Path, admin: str, **sought: str | None) -> None:
    """Write events into FILE, a line of JSON each, the newest first.

    What is broken off stays in FILE.part, and the same command goes on with it.
    """
    count = export_events(read_admin(admin), _PATH, sought, output)
    click.echo(f"{count} events are in {output}.", err=True)


@command.command("checkpoint")
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="A new file.  [standard output]")
@admin_option
def show_checkpoint(output: Path | None, admin: str) -> None:
    """Print what the trail's newest digests are now, as JSON. Keep it where whoever changes the store cannot.

    What was changed before is found with `fencegate audit verify --checkpoint FILE`, for as long as events are kept.
    """
    checkpoint = read_admin(admin).get(f"{_PATH}/checkpoint")
    if output is None:
        print_json(checkpoint)
        return
    try:
        with output.open("x", encoding="utf-8") as file:
            file.write(json.dumps(checkpoint, indent=1) + "\n")
    except FileExistsError:
        raise click.ClickException(f"{output} is there already: name another, old checkpoints are needed.") from None
    except OSError as error:
        raise click.ClickException(f"{output} cannot be written: {error.strerror}. Name another file.") from None
    click.echo(
        f"{output} has the heads of {counted(_counted(checkpoint), 'shard')}; their digest is {checkpoint['digest']}."
    )


@command.command("verify")
@click.option(
    "--checkpoint",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Compare with this one as well, as `fencegate audit checkpoint` wrote it.",
)
@admin_option
@json_option
def verify(checkpoint: Path | None, admin: str, *, as_json: bool) -> None:
    """Say whether the trail is whole and unchanged since it was sealed. Exit status 1 if not, with each place.

    Each event is sealed within about a minute. Only a checkpoint that was kept elsewhere shows what somebody changed
    who can change the seals too.
    """
    heads = () if checkpoint is None else _read_heads(checkpoint)
    events, findings = _verified(read_admin(admin), heads)
    if as_json:
        print_json({"ok": not findings, "events": events, "findings": findings})
    elif findings:
        print_table(("WRONG", "SHARD", "EVENTS", "WHAT"), folded(findings))
        wrong = f"{counted(len(findings), 'place')} {'is' if len(findings) == 1 else 'are'} wrong"
        click.echo(f"{_verified_events(events)}, and {wrong}.")
    else:
        since = "" if checkpoint is None else f", and of {counted(len(heads), 'head')} of {checkpoint} each fits"
        click.echo(f"{_verified_events(events)}: none is missing, none was changed{since}.")
    if findings:
        raise click.exceptions.Exit(1)


def _verified_events(events: int) -> str:
    return f"{counted(events, 'event')} {'was' if events == 1 else 'were'} verified"


def folded(findings: Iterable[Item]) -> Iterator[tuple[object, ...]]:
    """A row for what follows each other and is wrong in one way: a store that went back has hundreds of one kind."""
    for (kind, shard), alike in groupby(findings, key=lambda item: (item["kind"], item["shard"])):
        run = list(alike)
        more = "" if len(run) == 1 else f"; so are {counted(len(run) - 1, 'place')} more of these"
        yield kind, shard, f"{run[0]['first']}-{run[-1]['last']}", f"{run[0]['what']}{more}"


def print_events(events: Iterable[Item]) -> None:
    """A table of steps."""
    print_table(_HEADS, map(_row, events))


def _row(event: Item) -> tuple[object, ...]:
    return (
        *(event["at"], _step(event), event["resource"], event["intent"], event["rule"], event["epoch"]),
        *(_who(event), event["by"], event["reason"]),
    )


def _who(event: Item) -> object:
    """The holder as it called itself, and the principal as which it came, where there are any."""
    holder, principal = event["holder"], event["principal"]
    return f"{holder or ''} ({principal})".lstrip() if principal else holder


def _step(event: Item) -> str:
    before, after = event["from"], event["to"]
    return str(after) if before in (None, after) else f"{before} > {after}"


def _verified(api: AdminApi, heads: tuple[str, ...]) -> tuple[int, list[Item]]:
    """How many events there are, and what is wrong with them."""
    events, findings = 0, list[Item]()
    cursor, shard = None, "000"
    with Progress("events verified") as progress:
        while True:
            some = [head for head in heads if head[:3] >= shard][:_HEADS_A_CALL]
            answer = api.post(f"{_PATH}/verify", {"cursor": cursor, "heads": some})
            count, found, following = answer["events"], answer["findings"], answer["next"]
            assert isinstance(count, int) and isinstance(found, list)
            events += count
            findings += found
            progress.show(events)
            if following is None:
                return events, findings
            cursor = str(following)
            shard = cursor.partition(".")[0]


def _read_heads(file: Path) -> tuple[str, ...]:
    try:
        document = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise click.ClickException(f"{file} cannot be read: {error.strerror}.") from None
    except ValueError:
        document = None
    heads = document.get("heads") if isinstance(document, Mapping) else None
    if not isinstance(heads, list) or not all(isinstance(head, str) for head in heads):
        raise click.ClickException(f"{plain(file)} is no checkpoint: `fencegate audit checkpoint -o FILE` writes one.")
    return tuple(sorted(heads))


def _counted(checkpoint: Item) -> int:
    heads = checkpoint["heads"]
    return len(heads) if isinstance(heads, list) else 0
