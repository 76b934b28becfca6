"""Every world that can be reached, the nearest first: what is broken is told by the shortest way to it.

Worlds that were met are known by their hash of 64 bits: among a million, one is taken for another once in ten million
searches.
"""

import gc
import time
from dataclasses import dataclass
from typing import NamedTuple

from tests.model.explore.moves import Moves
from tests.model.explore.world import World


class _Came(NamedTuple):
    """From which world, and how."""

    before: int
    words: str


@dataclass(frozen=True, slots=True)
class Violation:
    """What was broken, and the shortest way there, in words."""

    broken: tuple[str, ...]
    trace: tuple[str, ...]

    def __str__(self) -> str:
        steps = (f"{number:3}  {words}" for number, words in enumerate(self.trace, 1))
        return "\n".join((*self.broken, *steps))


@dataclass(frozen=True, slots=True)
class Explored:
    """`is_whole`: there is nothing beyond the depth."""

    states: int
    transitions: int
    depth: int
    seconds: float
    script_runs: int
    is_whole: bool
    violation: Violation | None

    def __str__(self) -> str:
        how_far = "all of it" if self.is_whole else "no further"
        return (
            f"{self.states} states, {self.transitions} transitions, depth {self.depth} ({how_far}), "
            f"{self.script_runs} script runs, {self.seconds:.1f} s"
        )


def explore(moves: Moves, depth: int | None = None, most: int | None = None) -> Explored:
    """Until something is broken, or nothing is left. `most`: states after which no further ones are looked for."""
    # Worlds have no cycles, and the collector would go through all of them again and again.
    gc.disable()
    try:
        return _explore(moves, depth, most)
    finally:
        gc.enable()


def _explore(moves: Moves, depth: int | None, most: int | None) -> Explored:
    began = time.monotonic()
    first = moves.beginning()
    came: dict[int, _Came | None] = {hash(first): None}
    layer, deep, transitions = [first], 0, 0

    def explored(violation: Violation | None = None) -> Explored:
        seconds = time.monotonic() - began
        return Explored(len(came), transitions, deep, seconds, moves.script_runs, not layer, violation)

    while layer and (depth is None or deep < depth) and (most is None or len(came) < most):
        following: list[World] = []
        deep += 1
        for world in layer:
            here = hash(world)
            for move in moves.of(world):
                transitions += 1
                there = hash(move.world)
                is_new = there not in came
                broken = move.broken or (moves.broken_in(move.world) if is_new else ())
                if broken:
                    return explored(Violation(broken, (*_way(came, here), move.words)))
                if is_new:
                    came[there] = _Came(here, move.words)
                    following.append(move.world)
        layer = following
    return explored()


def _way(came: dict[int, _Came | None], to: int) -> list[str]:
    words: list[str] = []
    while (step := came[to]) is not None:
        words.append(step.words)
        to = step.before
    return words[::-1]
