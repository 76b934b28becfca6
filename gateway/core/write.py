"""A write, fully resolved, and what admission says of it. Values grow from stage to stage; none is filled in later."""

from dataclasses import dataclass
from typing import Literal, NewType

from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.rule import Rule

ResourceKey = NewType("ResourceKey", str)
TicketId = NewType("TicketId", str)


@dataclass(frozen=True, slots=True)
class Write:
    """Everything that the admit script has to know. `secret_digest` is None where the epoch was granted elsewhere."""

    rule: Rule
    resource: ResourceKey
    epoch: Epoch
    holder: str | None
    secret_digest: bytes | None
    sequence: int | None = None
    if_revision: int | None = None


@dataclass(frozen=True, slots=True)
class Admitted:
    """The right to forward one write once. Only the store makes one, and each is settled once.

    `revision` counts the writes applied before this one; None where the rule does not count.
    """

    write: Write
    ticket: TicketId
    revision: int | None


@dataclass(frozen=True, slots=True)
class Waiting:
    """Not now: ask again when woken, at the latest after `recheck_s`.

    `older`: writes of an older epoch are in flight. `busy`: one of this epoch is, or someone came before.
    """

    why: Literal["older", "busy"]
    recheck_s: float


@dataclass(frozen=True, slots=True)
class Settled:
    """The ticket has ended. `overtaken`: a newer epoch had come meanwhile. `revision` is the count afterwards."""

    overtaken: bool
    revision: int | None


AdmitReply = Admitted | Waiting | Refused
