"""Writes that are sent later, and operators' words: how fast a queue drains, how soon a word takes effect."""

from collections.abc import Iterator

from tests.bench.draining import measure_drain
from tests.bench.figure import Figure
from tests.bench.idle import measure_idle
from tests.bench.promptness import measure_promptness
from tests.bench.stage import Stage
from tests.bench.trial import Plan


def measure(stage: Stage, plan: Plan) -> Iterator[Figure]:
    yield from measure_drain(stage, plan)
    yield from measure_promptness(stage)
    yield from measure_idle(stage)
