"""A gateway's question in a world, and the next move that its answer makes."""

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.model.explore.gateway import Gateways, Memory
from tests.model.explore.promises import Broken
from tests.model.explore.shelf import Shelf
from tests.model.explore.world import World


class Move(NamedTuple):
    """What happens, in words; the world then; what it broke."""

    words: str
    world: World
    broken: Broken = ()


class Asking:
    """`forgets`: the store loses nothing, so that nobody has to remember what it has acknowledged."""

    def __init__(self, gateways: Gateways, *, forgets: bool) -> None:
        self._gateways = gateways
        self._forgets = forgets

    @property
    def shelf(self) -> Shelf:
        return self._gateways.shelf

    def ask(
        self, world: World, number: int, question: Callable[..., Any], *arguments: object, use: bool = True
    ) -> tuple[Any, World]:
        """The answer, and the world then."""
        gateway = world.gateways[number]
        reply, store, memory = self._gateways.ask(number, world.store, gateway.memory, question, *arguments)
        after = gateway._replace(memory=Memory() if self._forgets else memory, used=gateway.used or use)
        return reply, world._replace(store=store).with_gateway(number, after)


def usable(world: World) -> list[int]:
    """Living gateways; of those that nobody has used, one is like the other."""
    living = [number for number, gateway in enumerate(world.gateways) if gateway.lives]
    unused = [number for number in living if not world.gateways[number].used]
    return [number for number in living if number not in unused[1:]]


def used(world: World, number: int) -> World:
    return world.with_gateway(number, world.gateways[number]._replace(used=True))


def replaced(values: tuple[Any, ...], at: int, value: object) -> tuple[Any, ...]:
    """The same values, but for one."""
    return (*values[:at], value, *values[at + 1 :])
