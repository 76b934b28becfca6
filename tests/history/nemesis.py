"""Does to a run what its plan says."""

import asyncio
import signal
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import TypeVar, get_args

from tests.history import child
from tests.history.log import Log
from tests.history.plan import Fault, Plan
from tests.history.policy import write_policy
from tests.history.stage import Stage
from tests.history.store_faults import StoreFaults
from tests.history.wire import Mode, Wire

_MODES: dict[str, Mode] = {mode: mode for mode in get_args(Mode)}

_T = TypeVar("_T")


class Nemesis:
    """One for a run. `clock`: the file in which libfaketime reads how far the gateways' clocks are off."""

    def __init__(self, stage: Stage, log: Log, clock: Path | None = None) -> None:
        self._stage = stage
        self._log = log
        self._clock = clock
        self._store_faults = StoreFaults(stage.store).by_kind
        # What is being killed and started is not killed meanwhile.
        self._alone: defaultdict[tuple[str, int], asyncio.Lock] = defaultdict(asyncio.Lock)
        self._reloads = 0

    async def run(self, plan: Plan) -> None:
        """Returns once the last fault is healed."""
        began = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as group:
            for number, fault in enumerate(plan.faults):
                await asyncio.sleep(began + fault.at_s - asyncio.get_running_loop().time())
                group.create_task(self._do(number, fault))
        await asyncio.sleep(max(0.0, began + plan.seconds - asyncio.get_running_loop().time()))

    async def _do(self, number: int, fault: Fault) -> None:
        async with self._suffering(fault):
            self._log.note("fault", number=number, kind=fault.kind, target=fault.target)
            await asyncio.sleep(fault.lasts_s)
        self._log.note("healed", number=number, kind=fault.kind)

    def _suffering(self, fault: Fault) -> AbstractAsyncContextManager[None]:
        if (of_store := self._store_faults.get(fault.kind)) is not None:
            return of_store(fault)
        how, _, where = fault.kind.rpartition("-")
        wires = {"agents": self._stage.agent_wires, "store": self._stage.store.wires, "upstream": [self._stage.door]}
        if how in _MODES:
            return self._weather(_one_of(wires[where], fault), _MODES[how])
        does: dict[str, Callable[[Fault], AbstractAsyncContextManager[None]]] = {
            "stop": self._stopped,
            "kill": self._killed,
            "reload": self._reloaded,
            "jump": self._jumped,
        }
        return does[fault.kind.partition("-")[0]](fault)

    @asynccontextmanager
    async def _weather(self, wire: Wire, mode: Mode) -> AsyncIterator[None]:
        # One kind at a time: who comes second waits.
        async with self._alone["wire", id(wire)]:
            wire.become(mode)
            try:
                yield
            finally:
                wire.become("clear")

    @asynccontextmanager
    async def _stopped(self, fault: Fault) -> AsyncIterator[None]:
        pids = self._pids(fault)
        child.signal_all(pids, signal.SIGSTOP)
        try:
            yield
        finally:
            child.signal_all(pids, signal.SIGCONT)

    def _pids(self, fault: Fault) -> list[int]:
        stage, gateway = self._stage, fault.target % len(self._stage.gateways)
        match fault.kind:
            case "stop-gateway":
                return [stage.gateways[gateway].pid]
            case "stop-workers":
                return stage.workers(gateway)
            case "stop-upstream":
                return [stage.upstream.pid] if stage.upstream else []
            case _:
                agents = _one_of(stage.agents, fault)
                return [agents.pid] if agents else []

    @asynccontextmanager
    async def _killed(self, fault: Fault) -> AsyncIterator[None]:
        stage = self._stage
        match fault.kind:
            case "kill-worker":
                number = fault.target % len(stage.gateways)
                workers = stage.workers(number)
                self._log.note("death", gateway=number)
                child.signal_all(workers[fault.target % 2 :][:1], signal.SIGKILL)
                yield
            case "kill-gateway":
                async with self._gateway_killed(fault.target % len(stage.gateways)):
                    yield
            case "kill-upstream":
                async with self._alone["upstream", 0]:
                    await child.end(stage.upstream)
                    yield
                    await stage.start_upstream()
            case _:
                number = fault.target % len(stage.agents)
                async with self._alone["agents", number]:
                    await child.end(stage.agents[number])
                    yield
                    await stage.start_agents(number)

    @asynccontextmanager
    async def _gateway_killed(self, number: int) -> AsyncIterator[None]:
        async with self._alone["gateway", number]:
            gateway, workers = self._stage.gateways[number], self._stage.workers(number)
            self._log.note("death", gateway=number)
            # Stopped ones could not end by themselves.
            child.signal_all([gateway.pid, *workers], signal.SIGKILL)
            await gateway.kill()
            yield
            await self._stage.start_gateway(number)

    @asynccontextmanager
    async def _reloaded(self, fault: Fault) -> AsyncIterator[None]:
        self._reloads += 1
        write_policy(self._stage.ground.policies, self._stage.door.port, times=self._reloads)
        child.signal_all([_one_of(self._stage.gateways, fault).pid], signal.SIGHUP)
        yield

    @asynccontextmanager
    async def _jumped(self, fault: Fault) -> AsyncIterator[None]:
        assert self._clock is not None
        self._clock.write_text(f"{'+' if fault.target % 2 else '-'}{fault.target % 60 + 2}s\n")
        yield
        self._clock.write_text("+0s\n")


def _one_of(things: Sequence[_T], fault: Fault) -> _T:
    return things[fault.target % len(things)]
