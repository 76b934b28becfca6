"""What delivers what was queued: in every worker, and alone in a process of its own (`deliverer.py`)."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial

from gateway.core.clock import Clock
from gateway.flow.admission import Admission
from gateway.flow.delivery import Deliverer
from gateway.flow.pauses import Pauses
from gateway.flow.ports import Observer
from gateway.flow.sending import Sending
from gateway.flow.tasks import Tasks
from gateway.flow.waiting import Wakes
from gateway.log import Log
from gateway.ongoing import ongoing, stop
from gateway.policy.ruleset import RuleSet
from gateway.store.deliveries import Deliveries
from gateway.store.fence import FenceStore
from gateway.upstream.sender import HttpSender


@dataclass(frozen=True, slots=True)
class Means:
    """What a deliverer shares with the rest of its process. `stopping`: from then on nothing more is taken."""

    store: FenceStore
    sender: HttpSender
    clock: Clock
    wakes: Wakes
    tasks: Tasks
    pauses: Pauses
    observer: Observer
    stopping: asyncio.Event


@asynccontextmanager
async def delivering(
    means: Means, rules: Callable[[], RuleSet], log: Log, *, grace_s: float
) -> AsyncIterator[Deliverer]:
    """A deliverer at work. On leaving, what is being sent may end: `grace_s` seconds from when it was told to stop."""
    queue = Deliveries(means.store)
    # Not for a secret: what failed together should not come back together.
    sending = Sending(queue, means.sender, means.clock, means.observer, random.random)
    admission = Admission(queue, means.clock, means.wakes, means.tasks, means.pauses)
    deliverer = Deliverer(queue, admission, sending, rules, log)
    running = ongoing("delivering", deliverer.run)
    stopping = ongoing("waiting for the end", partial(_stop_when_told, deliverer, means.stopping))
    try:
        yield deliverer
    finally:
        await stop(stopping)
        await deliverer.close(grace_s)
        await stop(running)
        await queue.close()


async def _stop_when_told(deliverer: Deliverer, told: asyncio.Event) -> None:
    await told.wait()
    deliverer.stop()
