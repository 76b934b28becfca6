"""Several agents in one process, which can be stopped and killed: `python -m tests.history.agents` with its task as
JSON on the command line."""

import asyncio
import random
import signal
import sys
from dataclasses import asdict, dataclass
from json import dumps, loads
from pathlib import Path
from typing import Self

from tests.history.agent import Agent, World
from tests.history.log import Log


@dataclass(frozen=True, slots=True)
class Task:
    """`name` is the process's own; its agents' names begin with it. `log` is a path."""

    name: str
    seed: int
    agents: int
    ports: tuple[int, ...]
    resources: tuple[str, ...]
    log: str
    dribbled: float

    def to_json(self) -> str:
        return dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        task = loads(text)
        return cls(**(task | {"ports": tuple(task["ports"]), "resources": tuple(task["resources"])}))


async def main(task: Task) -> None:
    """Until SIGTERM."""
    world = World(task.ports, task.resources, Log(Path(task.log)), task.dribbled)
    names = [f"{task.name}.{number}" for number in range(task.agents)]
    living = [asyncio.ensure_future(Agent(name, world, random.Random(f"{task.seed}/{name}")).live()) for name in names]
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    stopping = asyncio.ensure_future(stop.wait())
    # An agent ends only by a fault of this program, which must be seen.
    done, _ = await asyncio.wait((*living, stopping), return_when=asyncio.FIRST_COMPLETED)
    for agent in living:
        agent.cancel()
    await asyncio.gather(*living, return_exceptions=True)
    for one in done - {stopping}:
        one.result()


if __name__ == "__main__":
    asyncio.run(main(Task.from_json(sys.argv[1])))
