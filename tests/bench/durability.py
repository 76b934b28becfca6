"""What it costs that a record is on the disk, or at a replica, before anything is sent because of it."""

import contextlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import redis

from gateway.store.embedded import find_server
from tests.bench.figure import Figure
from tests.bench.process import Failed, free_port, serving
from tests.bench.stage import Stage
from tests.bench.store import Store
from tests.bench.subject import Subject
from tests.bench.trial import Case, Plan, Trial, in_turn, own_us, rates, store_us
from tests.bench.wrk import Shape

_FLUSHES = {"process": "everysec", "disk": "always", "replica:1": "everysec"}
# One caller after the other shows what a write waits for; many at once share the waits.
_ALONE, _MANY = Shape(connections=1), Shape(connections=32)
_IN_STEP_WITHIN_S = 30.0
_LOOK_EVERY_S = 0.02


def measure(stage: Stage, plan: Plan) -> Iterator[Figure]:
    with contextlib.ExitStack() as stack:
        subjects = {name: stack.enter_context(_gateway(stage, name)) for name in _FLUSHES}
        alone = in_turn({name: Case(subject, _ALONE) for name, subject in subjects.items()}, plan)
        many = in_turn({name: Case(subject, _MANY) for name, subject in subjects.items()}, plan)
    for name in _FLUSHES:
        yield Figure(f"{name}: writes of 32 callers", "writes/s").compared(rates(many[name]), rates(many["process"]))
        yield Figure(f"{name}: one caller, median", "ms").compared(_medians(alone[name]), _medians(alone["process"]))
        yield Figure(f"{name}: worker's CPU", "µs a write").compared(own_us(many[name]), own_us(many["process"]))
        yield Figure(f"{name}: store's CPU", "µs a write").compared(store_us(many[name]), store_us(many["process"]))


def _medians(trials: Sequence[Trial]) -> list[float]:
    return [trial.report.p50_ms for trial in trials]


@contextlib.contextmanager
def _gateway(stage: Stage, durability: str) -> Iterator[Subject]:
    """A gateway on a store of its own, with a file, and with a replica where one is asked for."""
    with contextlib.ExitStack() as stack:
        store = stack.enter_context(_store(stage.directory, _FLUSHES[durability]))
        if durability.startswith("replica"):
            replica = stack.enter_context(_store(stage.directory, "everysec"))
            replica.client.replicaof("127.0.0.1", store.port)
            _wait_until_in_step(replica)
        gateway = stack.enter_context(stage.gateway(store=store, options=("--durability", durability)))
        # The gateway would notice that its store was emptied.
        yield replace(gateway, name=durability, keeps=True)


@contextlib.contextmanager
def _store(directory: Path, flushing: str) -> Iterator[Store]:
    """The server that is bundled: older ones have no WAITAOF."""
    port = free_port()
    own = directory / f"durable-{port}"
    own.mkdir()
    command = [find_server(), "--port", str(port), "--bind", "127.0.0.1", "--dir", str(own), "--save", ""]
    kept = ["--appendonly", "yes", "--appendfsync", flushing, "--repl-diskless-sync-delay", "0"]
    with serving([*command, *kept], own / "log", port) as pid, redis.Redis(port=port) as client:
        yield Store(port, pid, client)


def _wait_until_in_step(replica: Store) -> None:
    gives_up_at = time.monotonic() + _IN_STEP_WITHIN_S
    while replica.client.info("replication")["master_link_status"] != "up":
        if time.monotonic() > gives_up_at:
            raise Failed("the replica does not follow its primary")
        time.sleep(_LOOK_EVERY_S)
