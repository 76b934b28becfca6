"""One load on one subject, and several subjects in turn."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.bench.process import Failed, cpu_s
from tests.bench.subject import Subject
from tests.bench.wrk import Report, Shape, load

_WARMING_UP_S = 1


@dataclass(frozen=True, slots=True)
class Plan:
    """How long a load lasts, how often each is repeated, and how many writes a queue has."""

    seconds: int
    rounds: int
    queued: int = 20_000


@dataclass(frozen=True, slots=True)
class Trial:
    """What a load showed: wrk's report, and the processor time that a request took, in microseconds."""

    report: Report
    own_us: float
    store_us: float


@dataclass(frozen=True, slots=True)
class Case:
    """A load for a subject."""

    subject: Subject
    shape: Shape = field(default_factory=Shape)


def in_turn(cases: Mapping[str, Case], plan: Plan) -> dict[str, list[Trial]]:
    """Every case in every round, in the other direction in every second one. Raises Failed as `tried` does."""
    for case in cases.values():
        tried(case, _WARMING_UP_S)
    trials: dict[str, list[Trial]] = {name: [] for name in cases}
    for number in range(plan.rounds):
        for name in list(cases)[:: -1 if number % 2 else 1]:
            trials[name].append(tried(cases[name], plan.seconds))
    return trials


def tried(case: Case, seconds: int) -> Trial:
    """Raises Failed if anything was not answered with success: a refusal is cheaper than a write."""
    subject = case.subject
    if not subject.keeps:
        subject.store.empty()
    if subject.log is not None:
        # At a line a request it grows to gigabytes in minutes.
        os.truncate(subject.log, 0)
    before = cpu_s(subject.pids), cpu_s([subject.store.pid])
    report = load(subject.port, case.shape, seconds)
    after = cpu_s(subject.pids), cpu_s([subject.store.pid])
    if report.failed or not report.requests:
        raise Failed(f"{subject.name}: {report.failed} of {report.requests} requests failed ({case.shape})")
    own_us, store_us = ((late - early) / report.requests * 1e6 for early, late in zip(before, after, strict=True))
    return Trial(report, own_us, store_us)


def rates(trials: Sequence[Trial]) -> list[float]:
    return [trial.report.rate for trial in trials]


def own_us(trials: Sequence[Trial]) -> list[float]:
    return [trial.own_us for trial in trials]


def store_us(trials: Sequence[Trial]) -> list[float]:
    return [trial.store_us for trial in trials]
