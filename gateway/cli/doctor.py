"""`fencegate doctor`: is this store fit to keep a fence, and is there a way around the gate?"""

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from gateway.cli.output import json_option, plain, print_json
from gateway.cli.policies import loaded
from gateway.core.check import Check
from gateway.core.faults import StoreUnavailable
from gateway.flow.clock import BootClock
from gateway.policy.ruleset import RuleSet
from gateway.store.connect import open_store
from gateway.store.doctor import examine
from gateway.store.embedded import EmbeddedStore, EmbeddedStoreError, running_store
from gateway.upstream.doctor import examine_upstreams
from gateway.upstream.sender import HttpSender

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
@click.option(
    "--policies",
    metavar="DIR",
    type=click.Path(path_type=Path),
    envvar="FENCEGATE_POLICIES",
    help="Ask each upstream of these policies, once and without credentials, whether it wants any.",
)
@json_option
def command(store: str | None, data_dir: Path, policies: Path | None, *, as_json: bool) -> None:
    """Check the store: version, persistence, eviction, scripts, clock. Exit status 1 if it is unfit.

    With --policies: also whether an upstream can be written past the gate. A store is then optional.
    """
    has_store = store is not None or data_dir.is_dir()
    if not has_store and policies is None:
        raise click.ClickException(f"There is no data directory {data_dir}: give another, or a store with --store.")
    ruleset = None if policies is None else loaded(policies)
    try:
        checks = asyncio.run(_examine(store) if store else _examine_bundled(data_dir)) if has_store else []
    except EmbeddedStoreError as error:
        raise click.ClickException(str(error)) from None
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--store") from None
    if ruleset is not None:
        checks += asyncio.run(_ask_upstreams(ruleset))
    _show(checks, as_json=as_json)
    if not all(check.ok for check in checks):
        raise click.exceptions.Exit(1)


def _show(checks: list[Check], *, as_json: bool) -> None:
    if as_json:
        print_json({"ok": all(check.ok for check in checks), "checks": [asdict(check) for check in checks]})
        return
    for check in checks:
        click.echo(f"{'ok  ' if check.ok else 'BAD '}{check.name}: {plain(check.saw)}")
        if not check.ok:
            click.echo(f"    {check.what_to_do}")


async def _ask_upstreams(ruleset: RuleSet) -> list[Check]:
    sender = HttpSender(BootClock())
    try:
        return await examine_upstreams(ruleset.upstreams, sender)
    finally:
        sender.close()


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
