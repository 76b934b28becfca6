"""Goal 3: two workers over one."""

import os
import statistics
from collections.abc import Iterator

from tests.bench.figure import Figure, at_least
from tests.bench.stage import Stage
from tests.bench.trial import Case, Plan, in_turn, own_us, rates, store_us
from tests.bench.wrk import Shape

# Enough that the kernel spreads them about evenly.
_CONNECTIONS = 128
# Two for the workers, one for the API and the load, one for the store.
_CORES = 4
_GOAL = at_least(1.8)


def measure(stage: Stage, plan: Plan) -> Iterator[Figure]:
    shape = Shape(connections=_CONNECTIONS)
    with stage.gateway() as one, stage.gateway(workers=2) as two:
        trials = in_turn({"one": Case(one, shape), "two": Case(two, shape)}, plan)
    cores = os.cpu_count() or 1
    few = f"{cores} cores for workers, API, store and load" if cores < _CORES else ""
    rate = Figure("two workers, beside one", "writes/s", None if few else _GOAL, few)
    yield rate.compared(rates(trials["two"]), rates(trials["one"]))
    cpu = Figure("two workers' CPU, beside one's", "µs a write").compared(own_us(trials["two"]), own_us(trials["one"]))
    yield cpu
    store = Figure("the store's CPU, beside one worker's", "µs a write")
    yield store.compared(store_us(trials["two"]), store_us(trials["one"]))
    # With a core for each worker, as long as the store has one of its own and is no limit.
    assert cpu.ours is not None
    assert cpu.ratio is not None
    limit = 1e6 / statistics.median(store_us(trials["two"]))
    note = f"2 over the CPU's ratio; the store carries {limit:.0f} writes/s, two workers {2e6 / cpu.ours:.0f}"
    yield Figure("two workers, a core for each", "times", _GOAL, note).of([2 / cpu.ratio])
