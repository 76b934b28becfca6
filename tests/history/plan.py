"""What a run does to whom and when: a pure function of its seed. The same seed gives the same plan; only the timing of
what happens may differ."""

import dataclasses
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Self

# By the nemesis' kind of fault, how long it lasts at least and at most, in seconds. The longer ones outlast
# `timeouts.total`: what was admitted before must not be sent after.
LASTING: Mapping[str, tuple[float, float]] = {
    "stop-agents": (0.2, 5.0),
    "kill-agents": (0.1, 1.0),
    "stop-gateway": (0.2, 5.0),
    "stop-workers": (0.2, 5.0),
    "kill-worker": (0.0, 0.0),
    "kill-gateway": (0.1, 2.0),
    "stop-store": (0.1, 4.0),
    "kill-store": (0.0, 2.0),
    "stop-upstream": (0.2, 4.0),
    "kill-upstream": (0.1, 2.0),
    "flush-scripts": (0.0, 0.0),
    "fill-store": (0.2, 3.0),
    "kill-clients": (0.0, 0.0),
    "reload": (0.0, 0.0),
    "jump-clock": (0.5, 4.0),
    **{
        f"{mode}-{where}": (0.2, 4.0)
        for mode in ("delay", "drop", "half-close", "cut", "black-hole")
        for where in ("agents", "upstream", "store")
    },
}
# What a nemesis does that was not told otherwise: a jump of the clock wants a package of the system.
USUAL = tuple(kind for kind in LASTING if kind != "jump-clock")
# Between the beginnings of two faults: they overlap now and then.
_BETWEEN_S = (0.4, 3.0)
# The load runs undisturbed before the first fault, and after the last one.
_WARM_UP_S, _COOL_DOWN_S = 1.5, 1.5

# What the API does with a write, by weight: `slow`ly, `refused` (no effect), `broken` (done, 500), `cut` and `half`
# (done, no or half an answer), `dropped` (not done, no answer), `late` (done, answered after everybody's patience),
# `tardy` (done after everybody's patience) and `failed` (not done, 503).
FATES: Mapping[str, int] = {
    "done": 70,
    "slow": 12,
    "refused": 5,
    "broken": 3,
    "cut": 3,
    "half": 2,
    "dropped": 2,
    "late": 1,
    "tardy": 1,
    "failed": 1,
}


@dataclass(frozen=True, slots=True)
class Fault:
    """`at_s` after the load began, for `lasts_s`. `target` picks one of those that there are, by its remainder."""

    at_s: float
    kind: str
    target: int
    lasts_s: float


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole run. `families`: which kinds of resources there are, in turn. `dribbled`: of all writes, how many have a
    body that comes slowly, in chunks."""

    seed: int
    seconds: float
    gateways: int = 2
    agents: int = 24
    resources: int = 30
    faults: tuple[Fault, ...] = ()
    fates: Mapping[str, int] = field(default_factory=lambda: dict(FATES))
    families: tuple[str, ...] = ("serial", "parallel", "bare", "serial", "queued", "native", "asked")
    dribbled: float = 0.1

    @property
    def names(self) -> tuple[str, ...]:
        """The resources."""
        return tuple(f"{self.families[number % len(self.families)]}/{number}" for number in range(self.resources))

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        document = json.loads(text)
        faults = tuple(Fault(**fault) for fault in document.pop("faults"))
        families = tuple(document.pop("families"))
        return cls(**document, faults=faults, families=families)


def draw(plan: Plan, kinds: Sequence[str]) -> Plan:
    """The plan with faults of these kinds, drawn from its seed. Raises ValueError for a kind that there is not."""
    unknown = sorted(set(kinds) - LASTING.keys())
    if unknown:
        raise ValueError(f"no nemesis does {', '.join(unknown)}; there are {', '.join(LASTING)}")
    return dataclasses.replace(plan, faults=tuple(_faults(random.Random(plan.seed), plan.seconds, kinds)))


def _faults(chance: random.Random, seconds: float, kinds: Sequence[str]) -> Iterator[Fault]:
    """Each kind once in an order of its own, and again: a short run has as many kinds as fit."""
    at, left = _WARM_UP_S, list[str]()
    while kinds and at < seconds - _COOL_DOWN_S:
        if not left:
            left = chance.sample(kinds, len(kinds))
        kind = left.pop()
        yield Fault(round(at, 3), kind, chance.randrange(1000), round(chance.uniform(*LASTING[kind]), 3))
        at += chance.uniform(*_BETWEEN_S)
