"""`fencegate doctor`: is this store fit to keep a fence?"""

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from gateway.cli.output import json_option, print_json
from gateway.core.faults import StoreUnavailable
from gateway.flow.clock import BootClock
from gateway.store.connect import open_store
from gateway.store.doctor import Check, examine
from gateway.store.embedded import EmbeddedStore, EmbeddedStoreError, running_store

_WITHIN_S = 5.0


@click.command("doctor")
@click.option("--store", metavar="URL", envvar="FENCEGATE_STORE", help="redis://, rediss:// or unix://.")
@click.option(
    "--data-dir",
    metavar="DIR",
    type=click.Path(path_type=Path),
    envvar="FENCEGATE_DATA_DIR",
    default=Path(".fencegate"),
    help="Without --store: the data directory of the bundled store.  [.fencegate]",
)
@json_option
def command(store: str | None, data_dir: Path, *, as_json: bool) -> None:
    """Check the store: version, persistence, eviction, scripts, clock. Exit status 1 if it is unfit."""
    if store is None and not data_dir.is_dir():
        raise click.ClickException(f"There is no data directory {data_dir}: give another, or a store with --store.")
    try:
        checks = asyncio.run(_examine(store) if store else _examine_bundled(data_dir))
    except EmbeddedStoreError as error:
        raise click.ClickException(str(error)) from None
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--store") from None
    fit = all(check.ok for check in checks)
    if as_json:
        print_json({"ok": fit, "checks": [asdict(check) for check in checks]})
    else:
        for check in checks:
            click.echo(f"{'ok  ' if check.ok else 'BAD '}{check.name}: {check.saw}")
            if not check.ok:
                click.echo(f"    {check.what_to_do}")
    if not fit:
        raise click.exceptions.Exit(1)


async def _examine_bundled(data_dir: Path) -> list[Check]:
    """The server that a gateway runs there now, or one that is started for the examination."""
    running = running_store(data_dir)
    if running is not None:
        return await _examine(running)
    embedded = EmbeddedStore(data_dir, lambda note: click.echo(note, err=True))
    await embedded.start()
    try:
        return await _examine(embedded.url)
    finally:
        await embedded.stop()


async def _examine(url: str) -> list[Check]:
    try:
        store = await open_store(url, on_wake=_ignore, timeout_s=_WITHIN_S, clock=BootClock())
    except StoreUnavailable as away:
        return [Check("reachable", False, str(away), "Start the store, or correct its URL and the user's rights.")]
    try:
        return await examine(store.link, wall_ms=round(datetime.now(UTC).timestamp() * 1000))
    finally:
        await store.close()


def _ignore(_resource: object) -> None:
    """Nobody waits for a resource here."""
