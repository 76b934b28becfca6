"""A write, fully resolved, and what admission says of it. Values grow from stage to stage; none is filled in later."""

from dataclasses import dataclass, field
from typing import Literal, NewType

from gateway.core.call import Call
from gateway.core.caller import ANONYMOUS, DEFAULT_TENANT
from gateway.core.clock import Deadline
from gateway.core.compensation import Rendering
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.frozen import frozen
from gateway.core.intent import Intent, IntentId, KeptAnswer, ResolvedBy
from gateway.core.outcome import Outcome
from gateway.core.rule import Rule
from gateway.core.token import SignedClaim

ResourceKey = NewType("ResourceKey", str)
TicketId = NewType("TicketId", str)
Incident = Literal["duplicate-effect", "late-write", "store-regressed"]


@frozen
class Claimed:
    """The signed claim by which a write is made, as it was presented, and when it was found to hold (`Clock.boot`)."""

    presented: SignedClaim
    at: float


@frozen
class Write:
    """Everything that the admit script has to know. `secret_digest` is None where the epoch was granted elsewhere.

    `expires`: when a signed claim ends; past it the write is not admitted. None where the store keeps the term.
    `claim`: that claim.
    `compensating`: the request that would take it back, to be filled from its answer; None where its rule has none.
    `costs`: what it takes of each of the rule's budgets, in millionths; empty where its admission takes nothing.
    `call`: the JSON-RPC call that it is, whose answer tells its outcome. `is_graphql`: it is one of GraphQL, where an
    error may come behind what was done.
    `trace_id`: of its request's trace, for the audit trail; empty where there is none.
    `keeping`: of what a deliverer has taken (`Parking.keeping`); empty where it is sent as it comes.
    """

    rule: Rule
    resource: ResourceKey
    epoch: Epoch
    holder: str | None
    secret_digest: bytes | None
    sequence: int | None = None
    if_revision: int | None = None
    intent: Intent | None = None
    expires: Deadline | None = None
    principal: str = ANONYMOUS
    tenant: str = DEFAULT_TENANT
    compensating: Rendering | None = field(default=None, repr=False, compare=False)
    costs: tuple[int, ...] = ()
    call: Call | None = None
    is_graphql: bool = False
    trace_id: str = ""
    keeping: str = ""
    claim: Claimed | None = field(default=None, repr=False)

    def named(self, intent: Intent) -> "Write":
        """The same write, as this intent."""
        # dataclasses.replace takes three times as long, and every keyed write comes here.
        counters = self.sequence, self.if_revision
        proof = self.epoch, self.holder, self.secret_digest
        who = self.principal, self.tenant
        return Write(
            *(self.rule, self.resource, *proof, *counters, intent, self.expires, *who),
            trace_id=self.trace_id,
            claim=self.claim,
        )


@frozen
class Admitted:
    """The right to forward one write once. Only the store makes one, and each is settled once.

    `revision` counts the writes applied before this one; None where the rule does not count. `intent` is the record's
    id; of a write without a key, the one that it gets if it ends unknown. `attempt` counts how often the intent was
    admitted, from 1; `in_doubt`: an attempt before this one may have been executed. `era` is its epoch's: larger each
    time that an operator has forgotten the resource's epochs. `sent_ms` is when the first attempt in doubt was
    admitted, by the store's clock; zero where nobody says. `asked_twice`: the store may have been, over two
    connections, and come to one of them only behind the end of this.
    """

    write: Write
    ticket: TicketId
    revision: int | None
    intent: IntentId
    attempt: int = 1
    in_doubt: bool = False
    era: int = 0
    sent_ms: int = 0
    asked_twice: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    """The intent was applied before; nothing is forwarded.

    `answer` is the first one's, None where none was kept: it was too large, or never came and `resolved_by` says who
    found out; `evidence` is then the JSON that a query answered about this very intent.
    """

    write: Write
    intent: IntentId
    answer: KeptAnswer | None
    resolved_by: ResolvedBy | None = None
    evidence: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class Waiting:
    """Not now: ask again when woken, at the latest after `recheck_s`.

    `older`: writes of an older epoch are in flight. `busy`: one of this epoch is, or someone came before.
    """

    why: Literal["older", "busy"]
    recheck_s: float


@dataclass(frozen=True, slots=True)
class Ready:
    """The write would be admitted now. `in_doubt`: an attempt before this one may have been executed."""

    in_doubt: bool


@frozen
class Settled:
    """The ticket has ended. `overtaken`: a newer epoch had come meanwhile. `revision` is the count afterwards.

    `outcome` is the intent's: a refusal proves nothing about an earlier attempt. `incident`: this evidence came after
    a resolution that says otherwise (`late-write`), or was the second proof of an effect (`duplicate-effect`).
    """

    overtaken: bool
    revision: int | None
    outcome: Outcome
    incident: Incident | None = None


@dataclass(frozen=True, slots=True)
class Extended:
    """The ticket of a session lives on. `lease_left_s`: until its lease ends; None where the store keeps no term."""

    lease_left_s: float | None = None


@dataclass(frozen=True, slots=True)
class Lapsed:
    """The ticket ended while its gateway was silent: as unknown, and others may have written since."""


ExtendReply = Extended | Lapsed | Refused
AdmitReply = Admitted | Replayed | Waiting | Refused
