"""Goal 1: requests a second on one core, over what nginx does with two scripts."""

from collections.abc import Iterator
from contextlib import ExitStack

from tests.bench.figure import Figure, at_least
from tests.bench.stage import Stage
from tests.bench.trial import Case, Plan, in_turn, own_us, rates, store_us
from tests.bench.wrk import Shape

_WRITE, _READ = Shape("write", "/plain"), Shape("read")


def measure(stage: Stage, plan: Plan) -> Iterator[Figure]:
    beside = stage.yardstick
    with ExitStack() as stack:
        ours = stack.enter_context(stage.gateway())
        quiet = stack.enter_context(stage.gateway(options=("--log-level", "warning")))
        trials = in_turn(
            {
                "api": Case(stage.api),
                "proxy": Case(beside.plain),
                "fenced": Case(beside.fenced),
                "keyed": Case(ours),
                "quiet": Case(quiet),
                "write": Case(ours, _WRITE),
                "read": Case(ours, _READ),
            },
            plan,
        )
    fenced = trials["fenced"]
    yield Figure("the API itself", "writes/s").compared(rates(trials["api"]), rates(fenced))
    yield Figure("nginx, a plain reverse proxy", "writes/s").compared(rates(trials["proxy"]), rates(fenced))
    for name, what, goal in (
        ("keyed", "fenced and deduplicated writes", at_least(1.0)),
        ("quiet", "the same without a log line each", None),
        ("write", "fenced writes, intent off", at_least(1.1)),
        ("read", "reads", at_least(1.2)),
    ):
        yield Figure(what, "requests/s", goal).compared(rates(trials[name]), rates(fenced))
        yield Figure(f"{what}: worker's CPU", "µs").compared(own_us(trials[name]), own_us(fenced))
        yield Figure(f"{what}: store's CPU", "µs").compared(store_us(trials[name]), store_us(fenced))
