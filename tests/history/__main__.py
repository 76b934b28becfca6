"""`python -m tests.history`: a run against gateways, a store and an API in processes of their own. Exit code 1 where a
promise was broken, with the evidence; the logs of such a run are kept."""

import asyncio
import dataclasses
import json
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

import click

from tests.faked_clock import LIBRARY, faking
from tests.history.child import ROOT
from tests.history.plan import Plan, Topology, draw, usual
from tests.history.run import Verdict, run
from tests.history.stage import Ground

_SHOWN = 20
# Beyond twice its load: it starts, its last faults are healed, and its records are read.
_AROUND_S = 600.0


@click.command()
@click.option("--seconds", type=float, default=60.0, help="How long the load runs.")
@click.option("--seed", type=int, default=lambda: time.monotonic_ns() % 1_000_000, help="Of the plan.")
@click.option("--nemesis", help="Kinds of faults, with commas; empty for none. All that fit where it is not given.")
@click.option("--topology", type=click.Choice(get_args(Topology)), default="alone", help="Of the store.")
@click.option("--durability", default="process", help="The gateways': process, disk or replica:1.")
@click.option("--gateways", type=click.IntRange(1), default=2)
@click.option("--agents", type=click.IntRange(4), default=24)
@click.option("--resources", type=click.IntRange(1), default=30)
@click.option(
    "--plan", "given", type=click.Path(path_type=Path), help="A plan that was stored, instead of a drawn one."
)
@click.option("--tree", type=click.Path(path_type=Path), default=ROOT, help="Another copy of the package.")
@click.option("--json", "file", type=click.Path(path_type=Path), help="Where the figures and the evidence are written.")
def main(given: Path | None, nemesis: str | None, tree: Path, file: Path | None, **sizes: Any) -> None:
    """Hold gateways under faults against what they promise."""
    # `sizes` are a plan's fields, as click has read them.
    plan = Plan.from_json(given.read_text()) if given is not None else _drawn(nemesis, sizes)
    directory = Path(tempfile.mkdtemp(prefix="history-"))
    variables, clock = _clock(plan, directory)
    print(f"seed {plan.seed}; the plan is {directory / 'plan.json'}", flush=True)
    verdict = _carried_out(plan, Ground(directory, tree, variables), clock)
    _show(verdict, directory)
    if file is not None:
        file.write_text(json.dumps(_document(plan, verdict), indent=1))
    if not verdict.violations and not verdict.complaints:
        shutil.rmtree(directory)
        return
    sys.exit(1)


def _drawn(nemesis: str | None, sizes: Mapping[str, Any]) -> Plan:
    plan = Plan(**sizes)
    try:
        return draw(plan, usual(plan) if nemesis is None else [kind for kind in nemesis.split(",") if kind])
    except ValueError as error:
        raise click.UsageError(str(error)) from None


def _carried_out(plan: Plan, ground: Ground, clock: Path | None) -> Verdict:
    """What a run has started ends with it, at SIGINT and SIGTERM too."""

    async def bounded() -> Verdict:
        task = asyncio.current_task()
        assert task is not None
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        async with asyncio.timeout(plan.seconds * 2 + _AROUND_S):
            return await run(plan, ground, clock)

    try:
        return asyncio.run(bounded())
    except (TimeoutError, asyncio.CancelledError) as error:
        why = "was ended" if isinstance(error, asyncio.CancelledError) else f"took too long {error}".rstrip()
        raise click.ClickException(f"the run {why}; the logs are in {ground.directory}") from error


def _clock(plan: Plan, directory: Path) -> tuple[dict[str, str], Path | None]:
    """What the gateways' environment has, and the file that sets their clock, where the plan makes it jump."""
    if all(fault.kind != "jump-clock" for fault in plan.faults):
        return {}, None
    if LIBRARY is None:
        raise click.UsageError("jump-clock wants libfaketime: apt-get install libfaketime, or another --nemesis.")
    clock = directory / "clock"
    return faking(clock), clock


def _show(verdict: Verdict, directory: Path) -> None:
    for line in verdict.figures.lines():
        print(line)
    for violation in verdict.violations[:_SHOWN]:
        print(violation)
    if verdict.complaints:
        print(verdict.complaints)
    if verdict.violations or verdict.complaints:
        print(f"the logs are in {directory}")


def _document(plan: Plan, verdict: Verdict) -> dict[str, object]:
    return {
        "plan": dataclasses.asdict(plan),
        "figures": verdict.figures.to_document(),
        "violations": [str(violation) for violation in verdict.violations],
    }


if __name__ == "__main__":
    main()
