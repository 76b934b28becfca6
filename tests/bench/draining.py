"""How fast a queue empties through one worker, beside writes that are sent at once under the same terms."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from gateway.core.rule import Rule
from gateway.policy.load import load_policies
from gateway.policy.ruleset import RuleSet
from tests.bench.backlog import fill, left
from tests.bench.figure import Figure, at_least, at_most
from tests.bench.gateway import Setting, gateway
from tests.bench.process import Failed, cpu_s, resident_mib
from tests.bench.stage import Stage
from tests.bench.trial import Case, Plan, own_us, rates, store_us, tried
from tests.bench.wrk import Shape

RESOURCES = 1_000
POLICY = """
upstream: api
url: http://127.0.0.1:{port}
defaults: {{authority: header, intent: {{mode: required}}}}
writes:
  - {{name: later, match: "POST /later/{{id}}", resource: "later/{{path.id}}", delivery: queued}}
  - {{name: now, match: "POST /now/{{id}}", resource: "now/{{path.id}}"}}
"""
_LOOK_EVERY_S = 0.2
# What it does while the worker starts, and while the last few are under way, is not its rate.
_FROM, _TO = 0.95, 0.05
# A worker that delivers nothing is found out.
_STALLED_AFTER_S = 60.0


@dataclass(frozen=True, slots=True)
class Drain:
    """One queue, emptied: writes a second, processor time of each in microseconds, and the worker's memory in MiB."""

    rate: float
    own_us: float
    store_us: float
    before_mib: float
    peak_mib: float


@dataclass(frozen=True, slots=True)
class _Look:
    at_s: float
    left: int
    own_s: float
    store_s: float


def measure_drain(stage: Stage, plan: Plan) -> Iterator[Figure]:
    writes = plan.queued
    setting = Setting({"api": POLICY.format(port=stage.api.port)})
    inline, drains = [], []
    for _ in range(plan.rounds):
        with gateway("the gateway", stage.directory, stage.store, setting) as ours:
            tried(Case(ours, Shape(path="/now", resources=RESOURCES)), 1)
            inline.append(tried(Case(ours, Shape(path="/now", resources=RESOURCES)), plan.seconds))
        drains.append(_drained(stage, setting, writes))
    note = f"{writes:,} writes over {RESOURCES:,} resources"
    rate = Figure("a queue drains, beside writes that are sent at once", "writes/s", at_least(0.5), note)
    yield rate.compared([one.rate for one in drains], rates(inline))
    cpu = Figure("the same: worker's CPU", "µs a write")
    yield cpu.compared([one.own_us for one in drains], own_us(inline))
    kept = Figure("the same: store's CPU", "µs a write")
    yield kept.compared([one.store_us for one in drains], store_us(inline))
    grown = Figure("what the worker grows by meanwhile, at most", "MiB", at_most(20))
    yield grown.of([one.peak_mib - one.before_mib for one in drains])


def _drained(stage: Stage, setting: Setting, writes: int) -> Drain:
    store = stage.store
    store.empty()
    fill(store, _queued_rule(stage, setting), "/later", writes=writes, resources=RESOURCES)
    with gateway("the gateway", stage.directory, store, setting) as ours:
        before_mib = resident_mib(ours.pids[0])
        looks = list(_looks(stage, ours.pids, writes))
        peak_mib = resident_mib(ours.pids[0], peak=True)
    first = next(look for look in looks if look.left <= writes * _FROM)
    last = next(look for look in looks if look.left <= writes * _TO)
    sent = first.left - last.left
    if not sent:
        raise Failed(f"{writes} writes are too few to tell how fast they are sent")
    own_us, store_us = (1e6 * used_s / sent for used_s in (last.own_s - first.own_s, last.store_s - first.store_s))
    return Drain(sent / (last.at_s - first.at_s), own_us, store_us, before_mib, peak_mib)


def _looks(stage: Stage, pids: tuple[int, ...], writes: int) -> Iterator[_Look]:
    """Until the queue is empty. Raises Failed where it does not get shorter."""
    waiting, moved_at = writes, time.monotonic()
    while waiting:
        now_left, now = left(stage.store), time.monotonic()
        if now_left < waiting:
            waiting, moved_at = now_left, now
        elif now - moved_at > _STALLED_AFTER_S:
            raise Failed(f"{waiting} of {writes} queued writes were not sent")
        yield _Look(now, now_left, cpu_s(pids), cpu_s([stage.store.pid]))
        time.sleep(_LOOK_EVERY_S)


def _queued_rule(stage: Stage, setting: Setting) -> Rule:
    directory = stage.directory / "later"
    directory.mkdir(exist_ok=True)
    for name, text in setting.policies.items():
        (directory / f"{name}.yaml").write_text(text)
    rules = load_policies(directory, {})
    assert isinstance(rules, RuleSet), rules
    return next(entry.rule for entry in rules.entries if entry.rule.parks)
