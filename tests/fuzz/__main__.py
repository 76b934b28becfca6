"""`python -m tests.fuzz`: a run against `fencegate serve` in processes of its own; exit code 1 with what was wrong."""

import asyncio
import sys
import tempfile
import time
from pathlib import Path

import click
import uvloop

from tests.fuzz.serving import fuzzed, judged
from tests.gateway_process import GatewayProcess, running

_WARMING_UP = 200


@click.command()
@click.option("--seed", type=int, required=True)
@click.option("--first", type=int, default=0, help="The first conversation.")
@click.option("--count", type=int, default=1_000, help="How many conversations.")
@click.option("--workers", type=int, default=1)
@click.option("--pure", is_flag=True, help="Without aiohttp's compiled parser.")
def main(seed: int, first: int, count: int, workers: int, pure: bool) -> None:
    """Fuzz a gateway."""
    variables = {"AIOHTTP_NO_EXTENSIONS": "1"} if pure else {}
    sys.exit(uvloop.run(_run(seed, range(first, first + count), workers, variables)))


async def _run(seed: int, numbers: range, workers: int, variables: dict[str, str]) -> int:
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        directory = Path(name)
        serving = running(directory, "--workers", str(workers), **variables)
        async with judged(directory) as oracle, serving as gateway:
            # What a worker has once it has begun is no leak.
            await fuzzed(seed, gateway.proxy, oracle, range(_WARMING_UP))
            before, started = _held(gateway), time.monotonic()
            run = await fuzzed(seed, gateway.proxy, oracle, numbers)
            took = time.monotonic() - started
            # No condition: what the workers give back late is to be seen in a figure, which fails nothing.
            await asyncio.sleep(1)
            after = _held(gateway)
        faults = [line for line in gateway.lines() if line["level"] == "error"]
    print(f"{run.requests} requests in {run.conversations} conversations, {run.requests / took:.0f} a second")
    print(f"seen upstream: {oracle.seen}, writes among them: {oracle.writes}; left waiting: {run.waited}")
    print(f"(resident KiB, descriptors) of each worker: {before} -> {after}")
    print(", ".join(f"{decision} {times}" for decision, times in run.decisions.most_common()))
    for line in (*oracle.found, *faults):
        print(line)
    return 1 if oracle.found or faults else 0


def _held(gateway: GatewayProcess) -> list[tuple[int, int]]:
    held = []
    for pid in gateway.workers():
        process = Path(f"/proc/{pid}")
        resident = next(line for line in (process / "status").read_text().splitlines() if line.startswith("VmRSS"))
        held.append((int(resident.split()[1]), len(list((process / "fd").iterdir()))))
    return held


if __name__ == "__main__":
    main()
