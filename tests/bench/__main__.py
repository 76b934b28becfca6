"""`python -m tests.bench`: the figures, each with its goal. See README, Benchmark."""

import contextlib
import json
import os
import platform
import resource
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import click

from tests.bench import durability, growth, hot, latency, matching, memory, queue, table, throughput, workers
from tests.bench.figure import Figure
from tests.bench.packages import missing_packages
from tests.bench.process import Failed
from tests.bench.stage import Stage, stage
from tests.bench.trial import Plan

_Measure = Callable[[Stage, Plan], Iterator[Figure]]
# In the order of the goals.
_GROUPS: dict[str, tuple[str, _Measure]] = {
    "throughput": ("one worker, beside nginx with two scripts", throughput.measure),
    "latency": ("how long a write takes, beside nginx with two scripts", latency.measure),
    "workers": ("two workers", workers.measure),
    "growth": ("what must not cost more", growth.measure),
    "hot": ("one serial resource, 64 callers, two gateways", hot.measure),
    "memory": ("room", memory.measure),
    "durability": ("what it costs that the disk or a replica has each record", durability.measure),
    "queue": ("what is sent later, and operators' words", queue.measure),
}
_MATCH = "match"


@click.command()
@click.argument("names", nargs=-1, type=click.Choice([*_GROUPS, _MATCH]))
@click.option("--seconds", type=click.IntRange(1), default=2, show_default=True, help="How long a load lasts.")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="How often each is repeated.")
@click.option("--queued", type=click.IntRange(1_000), default=20_000, show_default=True, help="Writes in the queue.")
@click.option("--json", "target", type=click.Path(path_type=Path), help="Write the figures to a file too.")
def main(names: tuple[str, ...], seconds: int, rounds: int, queued: int, target: Path | None) -> None:
    """Measure the gateway beside nginx that runs two scripts in the store. NAMES: groups of figures, else all."""
    chosen = names or (*_GROUPS, _MATCH)
    groups: list[table.Group] = []
    with contextlib.ExitStack() as stack:
        if target is not None:
            # What was measured is written down, however the rest ends.
            stack.callback(_write, groups, target)
        on = None if set(chosen) == {_MATCH} else _set_up(stack)
        _say_where()
        measured = [_has_measured(name, groups, on, Plan(seconds, rounds, queued)) for name in chosen]
    sys.exit(0 if all(measured) else 1)


def _write(groups: list[table.Group], target: Path) -> None:
    target.write_text(json.dumps(table.document(groups), indent=2, ensure_ascii=False) + "\n")


def _set_up(stack: contextlib.ExitStack) -> Stage:
    """Everything that is ended with `stack`. Ends the program where the machine lacks something."""
    if not sys.platform.startswith("linux"):
        raise click.ClickException("what processes use is read from /proc: run this on Linux")
    if missing := missing_packages():
        names = " ".join(missing)
        raise click.ClickException(f"missing on this machine: {names}. On Debian: apt-get install -y {names}")
    # An end like any other: what was started ends too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    # Connections by the thousand, here and in what is started from here.
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fencegate-bench-")))
    try:
        return stack.enter_context(stage(directory))
    except Failed as failed:
        raise click.ClickException(str(failed)) from None


def _say_where() -> None:
    load, _, _ = os.getloadavg()
    python = platform.python_version()
    click.echo(f"{os.cpu_count()} cores, load {load:.1f} before this run, Python {python}, {platform.machine()}")


def _has_measured(name: str, groups: list[table.Group], on: Stage | None, plan: Plan) -> bool:
    """Each figure is shown as soon as it is there. False if a load failed; other groups are worth their time still."""
    about, measure = _GROUPS.get(name, ("matching among thousands of rules", None))
    click.echo(table.heading(name, about))
    group = table.Group(name, [])
    groups.append(group)
    try:
        for figure in matching.measure() if measure is None or on is None else measure(on, plan):
            group.figures.append(figure)
            click.echo(table.row(figure))
    except Failed as failed:
        click.echo(f"{name} could not be measured: {failed}", err=True)
        return False
    return True


if __name__ == "__main__":
    main()
