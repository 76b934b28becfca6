"""One run, from its plan to its verdict."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.history.check import check
from tests.history.figures import Figures, count
from tests.history.history import Violation
from tests.history.log import Log, read_log
from tests.history.nemesis import Nemesis
from tests.history.operator import Operator
from tests.history.plan import Plan
from tests.history.policy import LATE_S, TOTAL_S
from tests.history.promotions import Promotions
from tests.history.records import read_history
from tests.history.stage import Ground, Stage, staged
from tests.history.store import Guarded


@dataclass(frozen=True, slots=True)
class Verdict:
    """`complaints` is what the run's own programs wrote to their standard error: it should be empty."""

    figures: Figures
    violations: tuple[Violation, ...]
    complaints: str


@asynccontextmanager
async def _watched(stage: Stage, log: Log) -> AsyncIterator[None]:
    """Somebody looks after the store meanwhile; whoever can no longer ends the run."""
    operator = Operator(stage, log)
    async with asyncio.TaskGroup() as group:
        watching = [group.create_task(operator.run())]
        if isinstance(stage.store, Guarded):
            watching.append(group.create_task(Promotions(stage.store, log).run()))
        yield
        await operator.until_done()
        for task in watching:
            task.cancel()


async def run(plan: Plan, ground: Ground, clock: Path | None = None) -> Verdict:
    """Carry the plan out and hold what happened against the promises. The logs stay in the ground's directory."""
    ground.directory.mkdir(parents=True, exist_ok=True)
    (ground.directory / "plan.json").write_text(plan.to_json())
    log = Log(ground.directory / "nemesis.log")
    async with staged(plan, ground) as stage:
        async with _watched(stage, log):
            await stage.start_all_agents()
            await Nemesis(stage, log, clock).run(plan)
            await stage.stop_agents()
            # No condition: evidence that comes late changes what the table says, or never comes.
            await asyncio.sleep(TOTAL_S + LATE_S)
        history = await read_history(ground.directory, stage.gateways[0], plan)
    log.close()
    violations = tuple(check(history))
    figures = count(history, read_log(ground.directory / "nemesis.log"), len(violations))
    complaints = ground.directory / "complaints.log"
    return Verdict(figures, violations, complaints.read_text() if complaints.exists() else "")
