"""Goal 6: what a worker with a thousand connections takes, and what the store keeps of a resource."""

import json
import urllib.request
from collections.abc import Iterator

from gateway.core.write import ResourceKey
from gateway.store.keys import resource_keys
from tests.bench.figure import Figure, at_most
from tests.bench.growth import idle_connections
from tests.bench.process import resident_mib
from tests.bench.stage import Stage
from tests.bench.subject import Subject
from tests.bench.trial import Case, Plan, tried
from tests.bench.wrk import Shape

_CONNECTIONS = 1_000
_RESOURCES = 100_000
# A name of 32 bytes: for names up to that length the goal is set.
_NAME = "leased/{:025d}"


def measure(stage: Stage, plan: Plan) -> Iterator[Figure]:
    with stage.gateway() as ours:
        (worker,) = ours.pids
        yield Figure("a worker that has just started", "MiB").of([resident_mib(worker)])
        with idle_connections(ours.port, _CONNECTIONS):
            yield Figure("a worker with 1,000 silent connections", "MiB").of([resident_mib(worker)])
        tried(Case(ours, Shape(connections=_CONNECTIONS)), plan.seconds)
        peak = resident_mib(worker, peak=True)
        yield Figure("a worker with 1,000 connections that write, at most", "MiB", at_most(120)).of([peak])
        yield from _kept(stage, ours)


def _kept(stage: Stage, ours: Subject) -> Iterator[Figure]:
    """Of resources that were leased, written to and released."""
    stage.store.empty()
    first = ResourceKey(_NAME.format(0))
    _lease_and_write(ours.port, first)
    before = stage.store.used_bytes()
    stage.store.fill(first, [ResourceKey(_NAME.format(number)) for number in range(1, _RESOURCES)])
    each = (stage.store.used_bytes() - before) / _RESOURCES
    yield Figure("an idle resource in the store", "bytes", at_most(200), "used_memory before and after").of([each])
    own = int(stage.store.client.memory_usage(resource_keys(first)[0]))
    yield Figure("the same by MEMORY USAGE", "bytes").of([own])


def _lease_and_write(port: int, resource: ResourceKey) -> None:
    lease = json.loads(_post(port, "/-/fence/leases", {"resource": resource, "holder": "agent-a", "ttl_s": 60}))
    _post(port, f"/{resource}", {}, lease["token"])
    _post(port, "/-/fence/leases/release", {"resource": resource}, lease["token"])


def _post(port: int, target: str, document: object, token: str = "") -> bytes:
    headers = {"Content-Type": "application/json"} | ({"Fencing-Token": token} if token else {})
    asked = urllib.request.Request(f"http://127.0.0.1:{port}{target}", json.dumps(document).encode(), headers)
    with urllib.request.urlopen(asked) as answer:
        said: bytes = answer.read()
        return said
