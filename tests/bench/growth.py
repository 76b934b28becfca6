"""Goal 4: what must not cost more: resources, rules, idle connections, and one resource that all write to."""

import contextlib
import socket
from collections.abc import Iterator
from contextlib import ExitStack

from gateway.core.write import ResourceKey
from tests.bench.figure import Figure, at_least
from tests.bench.stage import Stage
from tests.bench.store import Store, store
from tests.bench.subject import Subject
from tests.bench.trial import Case, Plan, in_turn, own_us, rates, store_us
from tests.bench.wrk import Shape, load

_RESOURCES = 1_000_000
_RULES = 5_000
_IDLE = 2_000
_GOAL = at_least(0.9)


def measure(stage: Stage, plan: Plan) -> Iterator[Figure]:
    yield from _resources(stage, plan)
    yield from _rules(stage, plan)
    yield from _idle(stage, plan)
    yield from _hot(stage, plan)


def _resources(stage: Stage, plan: Plan) -> Iterator[Figure]:
    with ExitStack() as stack:
        full = stack.enter_context(store(stage.directory))
        many, few = stack.enter_context(stage.gateway(store=full)), stack.enter_context(stage.gateway())
        _fill(full, many)
        kept = Subject(many.name, many.port, many.pids, full, many.log, keeps=True)
        shape = Shape(resources=_RESOURCES)
        yield from _compared("1,000,000 resources, beside 1,000", Case(kept, shape), Case(few), plan)


def _rules(stage: Stage, plan: Plan) -> Iterator[Figure]:
    with stage.gateway(rules=_RULES) as many, stage.gateway() as one:
        yield from _compared("5,000 rules, beside 1", Case(many), Case(one), plan)


def _idle(stage: Stage, plan: Plan) -> Iterator[Figure]:
    with stage.gateway() as crowded, stage.gateway() as empty, idle_connections(crowded.port, _IDLE):
        yield from _compared("2,000 idle connections, beside none", Case(crowded), Case(empty), plan)


def _hot(stage: Stage, plan: Plan) -> Iterator[Figure]:
    with stage.gateway() as ours:
        one, all_over = (Case(ours, Shape("keyed", "/parallel", count)) for count in (1, 1_000))
        yield from _compared("one parallel resource, beside 1,000", one, all_over, plan)


def _compared(what: str, ours: Case, beside: Case, plan: Plan) -> Iterator[Figure]:
    trials = in_turn({"ours": ours, "beside": beside}, plan)
    yield Figure(what, "writes/s", _GOAL).compared(rates(trials["ours"]), rates(trials["beside"]))
    cpu = Figure(f"{what}: worker's CPU", "µs a write")
    yield cpu.compared(own_us(trials["ours"]), own_us(trials["beside"]))
    kept = Figure(f"{what}: store's CPU", "µs a write")
    yield kept.compared(store_us(trials["ours"]), store_us(trials["beside"]))


def _fill(into: Store, subject: Subject) -> None:
    """Give all resources the record that one has after a write through the gateway."""
    load(subject.port, Shape("write", "/plain", resources=1, connections=1), 1)
    into.fill(ResourceKey("plain/0"), [ResourceKey(f"reports/{number}") for number in range(_RESOURCES)])


@contextlib.contextmanager
def idle_connections(port: int, count: int) -> Iterator[list[socket.socket]]:
    """So many that are open and silent."""
    with ExitStack() as stack:
        yield [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(count)]
