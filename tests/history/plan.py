"""What a run does to whom and when: a pure function of its seed. The same seed gives the same plan; only the timing of
what happens may differ."""

import dataclasses
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Self

from gateway.store.durability import read_durability

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
    "fill-disk": (0.2, 4.0),
    "kill-clients": (0.0, 0.0),
    "repeat-store": (0.5, 4.0),
    "reload": (0.0, 0.0),
    "jump-clock": (0.5, 4.0),
    # Longer than sentinels have patience: another server is promoted meanwhile.
    "kill-primary": (3.0, 8.0),
    "stop-primary": (3.0, 8.0),
    "lose-primary": (3.0, 8.0),
    "fail-over": (0.0, 0.0),
    **{
        f"{mode}-{where}": (0.2, 4.0)
        for mode in ("delay", "drop", "half-close", "cut", "black-hole")
        for where in ("agents", "upstream", "store")
    },
}
Topology = Literal["alone", "sentinel"]

# Of servers that sentinels guard.
FAILING_OVER = ("kill-primary", "stop-primary", "lose-primary", "fail-over")
# Of one server, and of the wires that lead to it: sentinels tell gateways the way to theirs.
_OF_ONE_SERVER = frozenset(kind for kind in LASTING if kind.endswith("-store") and kind != "fill-store")
# Who may know as the only one that something is missing after a failover, and who could not say so in time.
_OF_WITNESSES = frozenset({"stop-workers", "kill-worker", "kill-gateway"})
# Servers are in step again, and their sentinels would fail over again, once a failover is so long over.
_RESTS_S = 6.0
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
    body that comes slowly, in chunks. `durability` is the gateways'."""

    seed: int
    seconds: float
    gateways: int = 2
    agents: int = 24
    resources: int = 30
    faults: tuple[Fault, ...] = ()
    fates: Mapping[str, int] = field(default_factory=lambda: dict(FATES))
    families: tuple[str, ...] = ("serial", "parallel", "bare", "serial", "queued", "native", "asked")
    dribbled: float = 0.1
    topology: Topology = "alone"
    durability: str = "process"

    @property
    def names(self) -> tuple[str, ...]:
        """The resources."""
        return tuple(f"{self.families[number % len(self.families)]}/{number}" for number in range(self.resources))

    @property
    def may_lose(self) -> bool:
        """Whether a promoted server may lack what was acknowledged, of which operators are told then."""
        return self.topology == "sentinel" and not read_durability(self.durability).replicas

    @property
    def replicas(self) -> int:
        """As many as gateways wait for. Of more, one may be promoted while the former primary lives and others tell it
        that they have what is written there: what was acknowledged on their word would be lost."""
        return max(1, read_durability(self.durability).replicas)

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Self:
        document = json.loads(text)
        faults = tuple(Fault(**fault) for fault in document.pop("faults"))
        families = tuple(document.pop("families"))
        return cls(**document, faults=faults, families=families)


def usual(plan: Plan) -> tuple[str, ...]:
    """What a nemesis does to such a run that was not told otherwise: a jump of the clock wants a package of the
    system."""
    never = {"jump-clock", *_elsewhere(plan.topology), *(_OF_WITNESSES if plan.may_lose else ())}
    return tuple(kind for kind in LASTING if kind not in never)


def _elsewhere(topology: Topology) -> frozenset[str]:
    return frozenset(FAILING_OVER) if topology == "alone" else _OF_ONE_SERVER


def draw(plan: Plan, kinds: Sequence[str]) -> Plan:
    """The plan with faults of these kinds, drawn from its seed. Raises ValueError for a kind or a durability that there
    is not, or not with this store."""
    if read_durability(plan.durability).replicas and plan.topology == "alone":
        raise ValueError(f"{plan.durability} needs --topology sentinel")
    unknown = sorted(set(kinds) - LASTING.keys())
    if unknown:
        raise ValueError(f"no nemesis does {', '.join(unknown)}; there are {', '.join(LASTING)}")
    if elsewhere := sorted(set(kinds) & _elsewhere(plan.topology)):
        others = "sentinel" if plan.topology == "alone" else "alone"
        raise ValueError(f"{', '.join(elsewhere)} needs --topology {others}")
    return dataclasses.replace(plan, faults=tuple(_faults(random.Random(plan.seed), plan.seconds, kinds)))


def _faults(chance: random.Random, seconds: float, kinds: Sequence[str]) -> Iterator[Fault]:
    """Each kind once in an order of its own, and again: a short run has as many kinds as fit."""
    at, rested, left = _WARM_UP_S, 0.0, list[str]()
    while kinds:
        left = left or chance.sample(kinds, len(kinds))
        kind = left.pop()
        at = max(at, rested) if kind in FAILING_OVER else at
        if at >= seconds - _COOL_DOWN_S:
            return
        fault = Fault(round(at, 3), kind, chance.randrange(1000), round(chance.uniform(*LASTING[kind]), 3))
        yield fault
        rested = at + fault.lasts_s + _RESTS_S if kind in FAILING_OVER else rested
        at += chance.uniform(*_BETWEEN_S)
