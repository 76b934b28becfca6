"""What there is in a store at one time, as numbers: for the metrics."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from gateway.core.epoch import Epoch
from gateway.core.intent import State
from gateway.core.write import ResourceKey

# What somebody or something has to end: how old the oldest is tells whether anybody does.
Lasting = Literal["unknown", "awaiting_approval", "queued"]
Letters = Literal["waiting", "dead"]

# A rule, by the names of its upstream and its own.
RuleName = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Flown:
    """A write in flight, as far as it is counted."""

    upstream: str
    rule: str
    resource: ResourceKey
    epoch: Epoch


@dataclass(frozen=True, slots=True)
class Census:
    """`intents` includes writes in flight without a key; `pauses` are by what they name; `oldest_s` is in seconds, 0
    where there is none; `regressed`: the store has lost acknowledged work, and nobody has accepted that.
    """

    intents: Mapping[State, int]
    oldest_s: Mapping[Lasting, float]
    pauses: Mapping[str, int]
    letters: Mapping[Letters, int]
    in_flight: tuple[Flown, ...]
    regressed: bool


@dataclass(frozen=True, slots=True)
class Writers:
    """Who writes at an upstream now: `holders` are the epochs of resources with a write in flight, and `resources` the
    resources. More holders than resources: two epochs write to one, which the fence is there to prevent.
    """

    holders: int
    resources: int


def writers(
    in_flight: Iterable[Flown], upstreams: Iterable[str], observed: frozenset[RuleName]
) -> Mapping[str, Writers]:
    """Of each of `upstreams`; others, of other gateways on the same store, are theirs to tell.

    `observed`: rules that only observe. Their writes hold each other back from nothing.
    """
    fenced = [flown for flown in in_flight if (flown.upstream, flown.rule) not in observed]
    return {
        name: Writers(
            len({(flown.resource, flown.epoch) for flown in fenced if flown.upstream == name}),
            len({flown.resource for flown in fenced if flown.upstream == name}),
        )
        for name in upstreams
    }
