"""What a gateway uses that has nothing to do: with rules that send later, beside one that has none."""

import time
from collections.abc import Iterator

from tests.bench.draining import POLICY
from tests.bench.figure import Figure, at_most
from tests.bench.gateway import Setting, gateway, policies
from tests.bench.process import cpu_s, parent_of
from tests.bench.stage import Stage

# Longer than any interval at which something is looked for, but for the pruning.
_SECONDS = 12.0
_SETTLED_AFTER_S = 3.0
_WHAT = ("worker", "parent", "store")
# Half a percent of a core.
_GOAL = at_most(5)


def measure_idle(stage: Stage) -> Iterator[Figure]:
    queueing = _used(stage, Setting({"api": POLICY.format(port=stage.api.port)}))
    plain = _used(stage, Setting(policies(stage.api.port)))
    whose = "idle, with a rule that queues, beside none"
    for what, goal, ours, beside in zip(_WHAT, (_GOAL, None, None), queueing, plain, strict=True):
        yield Figure(f"{whose}: {what}'s CPU", "ms/s", goal, ours=ours, beside=beside)


def _used(stage: Stage, setting: Setting) -> tuple[float, float, float]:
    """Milliseconds of processor time a second: worker, parent, store."""
    stage.store.empty()
    with gateway("an idle gateway", stage.directory, stage.store, setting) as idle:
        groups = idle.pids, (parent_of(idle.pids[0]),), (stage.store.pid,)
        time.sleep(_SETTLED_AFTER_S)
        before = [cpu_s(pids) for pids in groups]
        time.sleep(_SECONDS)
        worker, parent, store = (
            1000 * (cpu_s(pids) - was) / _SECONDS for pids, was in zip(groups, before, strict=True)
        )
    return worker, parent, store
