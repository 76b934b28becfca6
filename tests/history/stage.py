"""Everything that a run consists of, each in processes of its own, and each way between two of them a wire:

agents ─ wire ─ gateway ─ door, a wire ─ API
                   └ wire ─ store, or sentinels that tell the way to it
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from json import dumps
from pathlib import Path

from tests.history import child
from tests.history.agents import Task
from tests.history.door import Doorkeeper
from tests.history.log import Log
from tests.history.plan import Plan
from tests.history.policy import write_policy
from tests.history.store import Guarded, Lone
from tests.history.wire import Wire
from tests.story.gateways import Gateway

_PROCESSES_OF_AGENTS = 4
_WORKERS = 2
# A start while the store is away is refused, as an operator would see it, and is tried again.
_START_AGAIN_S = 0.3


@dataclass(frozen=True, slots=True)
class Ground:
    """Where a run takes place: `tree` is the copy of the package that is run, `variables` are the gateways'."""

    directory: Path
    tree: Path = child.ROOT
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def policies(self) -> Path:
        return self.directory / "policies"


class Stage:
    """Made by `staged`. What is in lists is found there by the nemesis' targets."""

    def __init__(self, plan: Plan, ground: Ground) -> None:
        self.plan = plan
        self.ground = ground
        directory = ground.directory
        place = directory / "store"
        self.store: Lone | Guarded = Guarded(place, plan.replicas) if plan.topology == "sentinel" else Lone(place)
        self.upstream: asyncio.subprocess.Process | None = None
        self.upstream_port = 0
        self.door = Wire(lambda: self.upstream_port, lambda: Doorkeeper(self._door_log))
        self.gateways: list[Gateway] = []
        self.agent_wires: list[Wire] = []
        self.agents: list[asyncio.subprocess.Process | None] = [None] * _PROCESSES_OF_AGENTS
        self._door_log = Log(directory / "door.log")
        self._starts = 0

    async def start_upstream(self) -> None:
        """On the port that it had."""
        self._starts += 1
        directory = self.ground.directory
        words = str(self.upstream_port), str(directory / "upstream.log"), dumps(dict(self.plan.fates))
        seed = f"{self.plan.seed}/{self._starts}"
        self.upstream = await child.start("tests.history.upstream", *words, seed, log=directory / "complaints.log")
        assert self.upstream.stdout is not None
        self.upstream_port = int(await self.upstream.stdout.readline())

    async def start_gateway(self, number: int) -> None:
        """One that runs on the ports of the one before, or the first; tried until it starts."""
        before = self.gateways[number] if number < len(self.gateways) else None
        while True:
            self._starts += 1
            gateway = Gateway(
                self.ground.policies,
                self.ground.directory / f"gateway-{number}-{self._starts}",
                self.store.url(number),
                ("--workers", str(_WORKERS), "--audit-events", "100000000", "--durability", self.plan.durability),
                *((before.port, before.admin) if before else (0, 0)),
                tree=self.ground.tree,
                variables=self.ground.variables,
            )
            try:
                await gateway.start()
            except AssertionError:
                if before is None:
                    raise
                await asyncio.sleep(_START_AGAIN_S)
            except TimeoutError:
                await gateway.kill()
            else:
                break
        self.gateways[number : number + 1] = [gateway]

    def workers(self, number: int) -> list[int]:
        return child.children(self.gateways[number].pid)

    async def start_agents(self, number: int) -> None:
        """A process with its share of the agents, none of whom ever lived before."""
        self._starts += 1
        directory, share = self.ground.directory, len(range(number, self.plan.agents, _PROCESSES_OF_AGENTS))
        ports = tuple(wire.port for wire in self.agent_wires)
        name, log = f"p{number}s{self._starts}", str(directory / "agents.log")
        task = Task(name, self.plan.seed, share, ports, self.plan.names, log, self.plan.dribbled)
        complaints = directory / "complaints.log"
        self.agents[number] = await child.start("tests.history.agents", task.to_json(), log=complaints)

    async def start_all_agents(self) -> None:
        await asyncio.gather(*(self.start_agents(number) for number in range(_PROCESSES_OF_AGENTS)))

    async def stop_agents(self) -> None:
        await asyncio.gather(*(child.end(process, signal.SIGTERM) for process in self.agents))

    async def set_up(self, ending: AsyncExitStack) -> None:
        """Everything but the agents."""
        await self.store.set_up(ending, self.plan.gateways)
        await self.start_upstream()
        ending.push_async_callback(lambda: child.end(self.upstream))
        await ending.enter_async_context(self.door)
        write_policy(self.ground.policies, self.door.port)
        for number in range(self.plan.gateways):
            self.agent_wires.append(await ending.enter_async_context(Wire(partial(self._gateway_port, number))))
        ending.push_async_callback(self._end_gateways)
        for number in range(self.plan.gateways):
            await self.start_gateway(number)
        ending.push_async_callback(self.stop_agents)

    def _gateway_port(self, number: int) -> int:
        return self.gateways[number].port

    async def _end_gateways(self) -> None:
        for number, gateway in enumerate(self.gateways):
            child.signal_all([gateway.pid, *self.workers(number)], signal.SIGCONT)
        await asyncio.gather(*(gateway.end() for gateway in self.gateways))


@asynccontextmanager
async def staged(plan: Plan, ground: Ground) -> AsyncIterator[Stage]:
    """Set up; everything ends with the block, in whatever state it is."""
    ground.directory.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as ending:
        stage = Stage(plan, ground)
        await stage.set_up(ending)
        yield stage
