"""What is known of a run: what agents asked and were told, what passed the API's door, what the API did, and what the
gateways' records say in the end.

Moments are seconds of the machine's monotonic clock, which all processes share.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["write", "read", "grant", "renew", "release"]


@dataclass(frozen=True, slots=True)
class Call:
    """One request of an agent; `id` is its own, and travels with it to the API. No `answered`: none came.

    `at` is a moment before its first byte. `granted` is the epoch that a grant answered with, `intent` the state of the
    intent that a refusal told.
    """

    id: str
    kind: Kind
    resource: str
    at: float
    epoch: int | None = None
    key: str | None = None
    answered: float | None = None
    status: int = 0
    decision: str = ""
    outcome: str = ""
    granted: int | None = None
    intent: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """One request as it came to the API's door, a place that is never stopped and loses nothing.

    `began` and `whole` are the moments of its first and its last byte, `answered` that of the answer's first byte,
    `closed` the one at which the gateway, or a fault, ended the connection.
    """

    id: str
    resource: str
    epoch: int
    began: float
    whole: float | None = None
    answered: float | None = None
    closed: float | None = None

    @property
    def ended(self) -> float:
        """From then on the gateway may know that it is over."""
        return min(self.answered or math.inf, self.closed or math.inf)


@dataclass(frozen=True, slots=True)
class Execution:
    """An effect that the API had, by its own word."""

    id: str
    resource: str
    epoch: int
    at: float
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Intent:
    """A row of the gateways' table in the end. `key` is None for a write without one that ended unknown."""

    id: str
    resource: str
    state: str
    key: str | None = None


@dataclass(frozen=True, slots=True)
class Fence:
    """A resource's record in the end. `endings`: by epoch, how many writes ended as applied or unknown, by the audit
    trail."""

    epoch: int
    in_flight: int = 0
    endings: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Loss:
    """Acknowledged work that the store has lost: what was done from `since` on may be forgotten, until operators were
    told, or until the server that is no primary any more took no more writes (`found`). Until it is accepted nothing
    that may be forgotten is done again.
    """

    since: float
    found: float
    accepted: float = math.inf


@dataclass(frozen=True, slots=True)
class History:
    """A whole run. `total_s` is the policy's `timeouts.total`, `deaths` when a gateway's process was killed.

    `may_lose`: whether the store may lose what it acknowledged, if operators are told. `full`: from when until when a
    server of the store had no room, and refused what writes.
    """

    calls: tuple[Call, ...] = ()
    passages: tuple[Passage, ...] = ()
    executions: tuple[Execution, ...] = ()
    intents: tuple[Intent, ...] = ()
    fences: Mapping[str, Fence] = field(default_factory=dict)
    deaths: tuple[float, ...] = ()
    total_s: float = 2.0
    losses: tuple[Loss, ...] = ()
    may_lose: bool = False
    full: tuple[tuple[float, float], ...] = ()

    def loss_of(self, at: float) -> Loss | None:
        """The first that may have taken what was done then."""
        return next((loss for loss in self.losses if loss.since <= at <= loss.found), None)

    def accepted_before(self, at: float) -> int:
        """How many losses."""
        return sum(loss.accepted <= at for loss in self.losses)


@dataclass(frozen=True, slots=True)
class Violation:
    """A promise that a history breaks: which, and the lines that show it."""

    rule: str
    evidence: tuple[object, ...]

    def __str__(self) -> str:
        return "\n  ".join((self.rule, *map(str, self.evidence)))


def when_begun(history: History) -> Callable[[Execution], float]:
    """Of an execution: when its request came to the API's door. It may have come several times."""
    came = defaultdict[str, list[float]](list)
    for passage in history.passages:
        came[passage.id].append(passage.began)
    return lambda one: max((began for began in came[one.id] if began <= one.at), default=one.at)


def is_parallel(resource: str) -> bool:
    """Whether writes of one epoch may overlap there, by the run's policy."""
    return resource.startswith("parallel/")


def is_bare(resource: str) -> bool:
    """Whether epochs come from elsewhere there: none ends with a loss."""
    return resource.startswith("bare/")


def is_queued(resource: str) -> bool:
    """Whether what is written there is taken first and sent later, under whichever epoch has adopted it by then."""
    return resource.startswith("queued/")


def wants_key(resource: str) -> bool:
    """Whether each write there has to be an intent."""
    return resource.partition("/")[0] in ("queued", "native", "asked")


def is_native(resource: str) -> bool:
    """Whether the API itself refuses the second of one action there, and answers it as done."""
    return resource.startswith("native/")
