"""The store's ports under scripts: admissions, leases, quotas, pauses and claims."""

from collections import deque
from dataclasses import dataclass, replace

from gateway.core.claim import ClaimProof
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.intent import IntentId, KeptAnswer
from gateway.core.kept_request import KeptRequest
from gateway.core.late import LateResult
from gateway.core.lease import Lease, LeaseMark, LeaseSecret
from gateway.core.outcome import Outcome
from gateway.core.parking import Look
from gateway.core.pause import PausesInForce
from gateway.core.quota import Quota, Spending
from gateway.core.record import IntentRecord
from gateway.core.rule import Signed
from gateway.core.token import SignedClaim
from gateway.core.write import (
    AdmitReply,
    Admitted,
    Extended,
    ExtendReply,
    Incident,
    Lapsed,
    Replayed,
    ResourceKey,
    Settled,
    TicketId,
    Waiting,
    Write,
)
from gateway.flow.clock import BootClock
from gateway.flow.pauses import Pauses
from gateway.flow.waiting import Wakes
from tests.playbook.given import INTENT_ID
from tests.playbook.script import Script, Transcript


@dataclass(frozen=True)
class Admit:
    """The store admits; the ticket is the one that it was asked with."""

    revision: int | None = None
    attempt: int = 1
    in_doubt: bool = False
    asked_twice: bool = False


@dataclass(frozen=True)
class Settle:
    """The store settles; the outcome is the one that it was told, unless it knows more."""

    overtaken: bool = False
    revision: int | None = None
    outcome: Outcome | None = None
    incident: Incident | None = None


ADMIT = Admit()
SETTLED = Settle()


class ScriptedStore:
    """Implements `ports.Store`. `admit` takes `ADMIT`, optionally with a revision, or any other reply."""

    def __init__(self, said: Transcript, **scripts: list[object]) -> None:
        self._said = said
        self._scripts = {verb: Script(*lines) for verb, lines in scripts.items()}
        self._tickets = 0

    async def _ask(self, verb: str, line: str) -> object:
        self._said.say(line)
        return await self._scripts[verb].next()

    def new_ticket(self, resource: ResourceKey) -> TicketId:
        self._tickets += 1
        return TicketId(f"t{self._tickets}")

    async def admit(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int) -> AdmitReply:
        reply = await self._ask("admit", f"admit {ticket}{' queued' * queued}{f' behind {behind}' * bool(behind)}")
        if isinstance(reply, Admit):
            intent = IntentId(ticket) if write.intent is None else INTENT_ID
            got = Admitted(write, ticket, reply.revision, intent, reply.attempt, reply.in_doubt)
            return replace(got, asked_twice=reply.asked_twice)
        assert isinstance(reply, Waiting | Replayed | Refused)
        return reply

    async def extend(self, admitted: Admitted, *, ttl_s: float) -> ExtendReply:
        reply = await self._ask("extend", f"extend {admitted.ticket}")
        assert isinstance(reply, Extended | Lapsed | Refused)
        return reply

    async def peek(self, write: Write) -> Refused | None:
        reply = await self._ask("peek", "peek")
        assert reply is None or isinstance(reply, Refused)
        return reply

    async def settle(
        self, admitted: Admitted, outcome: Outcome, reason: str, kept: KeptAnswer | None, *, unfinished: bool
    ) -> Settled:
        keeping = "" if kept is None else f", keeping {kept.status} {kept.body.decode()}"
        how = f"{outcome}, unfinished" if outcome == "unknown" and unfinished else outcome
        reply = await self._ask("settle", f"settle {admitted.ticket} {how}: {reason}{keeping}")
        assert isinstance(reply, Settle)
        return Settled(reply.overtaken, reply.revision, reply.outcome or outcome, reply.incident)

    async def recall(self, id: str) -> IntentRecord | None:
        reply = await self._ask("recall", f"recall {id}")
        assert reply is None or isinstance(reply, IntentRecord)
        return reply

    async def quarantine(self, late: LateResult) -> str | None:
        body = late.request.body
        reply = await self._ask("quarantine", f"quarantine {'head' if body is None else body.decode()}")
        assert reply is None or isinstance(reply, str)
        return reply

    async def park(self, write: Write, request: KeptRequest, look: Look) -> IntentRecord | Replayed | Refused:
        if refused := await look():
            return refused
        body = b"" if request.body is None else request.body
        reply = await self._ask("park", f"park {request.method} {request.target} {body.decode()}")
        assert isinstance(reply, IntentRecord | Replayed | Refused)
        return reply

    async def abandon(self, write: Write, ticket: TicketId) -> None:
        await self._ask("abandon", f"abandon {ticket}")

    async def leave(self, resource: ResourceKey) -> None:
        await self._ask("leave", "leave")

    async def revision(self, resource: ResourceKey) -> int:
        reply = await self._ask("revision", f"revision of {resource}")
        assert isinstance(reply, int)
        return reply

    async def grant(
        self,
        resource: ResourceKey,
        holder: str,
        secret_digest: bytes,
        *,
        ttl_ms: int,
        takeover: bool,
        watch: bool,
        mark: LeaseMark | None = None,
        counts_for: str | None = None,
    ) -> Lease | Refused:
        reply = await self._ask("grant", f"grant {holder}{' takeover' * takeover}{' watch' * watch}")
        assert isinstance(reply, Lease | Refused)
        return reply

    async def renew(self, resource: ResourceKey, epoch: Epoch, secret_digest: bytes) -> Lease | Refused:
        reply = await self._ask("renew", f"renew {epoch}")
        assert isinstance(reply, Lease | Refused)
        return reply

    async def release(self, resource: ResourceKey, epoch: Epoch, secret_digest: bytes) -> Lease | Refused:
        reply = await self._ask("release", f"release {epoch}")
        assert isinstance(reply, Lease | Refused)
        return reply

    async def register(self, resource: ResourceKey, epoch: Epoch, holder: str, *, watch: bool) -> int | Refused:
        reply = await self._ask("register", f"register {epoch} {holder}{' watch' * watch}")
        assert isinstance(reply, int | Refused)
        return reply

    async def lookup(self, resource: ResourceKey) -> Lease | None:
        reply = await self._ask("lookup", "lookup")
        assert isinstance(reply, Lease | None)
        return reply

    async def lease_secret(
        self, tenant: str, principal: str, key: str, resource: ResourceKey, holder: str
    ) -> LeaseSecret:
        reply = await self._ask("lease_secret", f"lease_secret {tenant} {principal} {key} {holder}")
        assert isinstance(reply, LeaseSecret)
        return reply


class ScriptedQuotas:
    """Implements `quota.QuotaStore`; a line for each `spend`. `counted`: the names of the leases that count."""

    def __init__(self, said: Transcript, *lines: object) -> None:
        self._said = said
        self._script = Script(*lines)
        self.counted: set[bytes] = set()

    async def spend(self, quota: Quota, spending: Spending) -> Refused | None:
        self._said.say(f"spend of {quota.principal}'s")
        exceeded = await self._script.next()
        assert exceeded is None or isinstance(exceeded, Refused)
        if exceeded is None and spending.lease is not None:
            self.counted.add(spending.lease)
        return exceeded

    async def hold(self, quota: Quota, lease: bytes, until_ms: int, *, instead: bytes | None) -> None:
        self._said.say(f"hold until {until_ms}")
        self.counted = (self.counted - {instead}) | {lease}

    async def holds(self, quota: Quota, lease: bytes) -> bool:
        return lease in self.counted

    async def free(self, quota: Quota, lease: bytes) -> None:
        self._said.say("free")
        self.counted.discard(lease)


class ScriptedPauses:
    """Implements `ports.PauseStore`; each time that it is asked, the next line. After the last one it stays."""

    def __init__(self, *lines: PausesInForce) -> None:
        self._lines = deque(lines or ({},))

    async def in_force(self) -> PausesInForce:
        return self._lines.popleft() if len(self._lines) > 1 else self._lines[0]


def unpaused(store: "ScriptedStore", *lines: PausesInForce) -> Pauses:
    """Judges by these pauses; without any, by none."""
    return Pauses(store, ScriptedPauses(*lines), BootClock(), Wakes())


class ScriptedClaims:
    """Implements `ports.Claims`."""

    def __init__(self, said: Transcript, *lines: object) -> None:
        self._said = said
        self._script = Script(*lines)

    async def verify(self, claim: SignedClaim, terms: Signed, resource: ResourceKey) -> ClaimProof | Refused:
        self._said.say(f"verify {claim.text} for {resource}")
        found = await self._script.next()
        assert isinstance(found, ClaimProof | Refused)
        return found
