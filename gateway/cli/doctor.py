"""`fencegate doctor`: is this store fit to keep a fence, and is there a way around the gateway?"""

import asyncio
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from gateway.cli.loading import loaded
from gateway.cli.output import json_option, plain, print_json
from gateway.core.check import Check
from gateway.core.faults import StoreUnavailable
from gateway.flow.clock import BootClock
from gateway.policy.ruleset import RuleSet
from gateway.store.condition import diagnose
from gateway.store.connect import open_store
from gateway.store.doctor import examine
from gateway.store.durability import Durability, read_durability
from gateway.store.embedded import EmbeddedStore, EmbeddedStoreError, running_store
from gateway.store.links.topology_doctor import examine_topology
from gateway.store.loss.kept_marks import are_alone
from gateway.upstream.doctor import examine_upstreams
from gateway.upstream.sender import HttpSender

_WITHIN_S = 5.0


@click.command("doctor")
@click.option("--store", metavar="URL", envvar="FENCEGATE_STORE", help="As for serve.")
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
@click.option(
    "--durability",
    metavar="process|disk|replica:N",
    envvar="FENCEGATE_DURABILITY",
    help="What gateways are started with.  [process]",
)
@json_option
def command(store: str | None, data_dir: Path, policies: Path | None, durability: str | None, *, as_json: bool) -> None:
    """Check the store: version, role, persistence, eviction, scripts, clock, and whether it can give what --durability
    wants. Exit status 1 if it is unfit. Told besides: replicas, rights, memory, latency.

    With --policies: also whether an upstream can be written past the gateway. A store is then optional.
    """
    has_store = store is not None or (data_dir.is_dir() and not are_alone(data_dir))
    if not has_store and policies is None:
        lacks = f"no store in {data_dir}" if data_dir.is_dir() else f"no data directory {data_dir}"
        raise click.ClickException(f"There is {lacks}: give another, or a store with --store.")
    ruleset = None if policies is None else loaded(policies)
    wanted = _read(durability)
    try:
        checks = (
            asyncio.run(_examine(store, wanted) if store else _examine_bundled(data_dir, wanted)) if has_store else []
        )
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
        word = "BAD" if not check.ok else "see" if check.what_to_do else "ok "
        click.echo(f"{word} {check.name}: {plain(check.saw)}")
        if check.what_to_do:
            click.echo(f"    {check.what_to_do}")


async def _ask_upstreams(ruleset: RuleSet) -> list[Check]:
    sender = HttpSender(BootClock())
    try:
        return await examine_upstreams(ruleset.upstreams, sender)
    finally:
        sender.close()


def _read(durability: str | None) -> Durability:
    try:
        return read_durability(durability or "process")
    except ValueError as error:
        raise click.BadParameter(str(error), param_hint="--durability") from None


async def _examine_bundled(data_dir: Path, durability: Durability) -> list[Check]:
    """The server that a gateway runs there now, or one that is started for the examination."""
    running = running_store(data_dir)
    if running is not None:
        return await _examine(running, durability)
    embedded = EmbeddedStore(data_dir, lambda note: click.echo(note, err=True), flushes_always=durability.disk)
    await embedded.start()
    try:
        return await _examine(embedded.url, durability)
    finally:
        await embedded.stop()


async def _examine(url: str, durability: Durability) -> list[Check]:
    try:
        store = await open_store(url, on_wake=_ignore, timeout_s=_WITHIN_S, clock=BootClock())
    except StoreUnavailable as away:
        return [Check("reachable", False, str(away), "Start the store, or correct its URL and the user's rights.")]
    try:
        wall_ms = round(datetime.now(UTC).timestamp() * 1000)
        checks = await examine(store.link, wall_ms=wall_ms, durability=durability)
        return checks + await diagnose(store.link, durability) + await examine_topology(store.link)
    finally:
        await store.close()


def _ignore(_resource: object) -> None:
    """Nobody waits for a resource here."""
