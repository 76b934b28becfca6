"""Scripted ports: canned decisions and evidence, and one transcript of what was asked and answered.

Nothing here has an opinion: a call takes the next line of its script. A line that is an exception is raised; a line
that is `STUCK` never comes back, so that whoever waits for it can be cancelled there.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gateway.core.claim import ClaimProof
from gateway.core.clock import Deadline
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.intent import Intent, IntentId, KeptAnswer
from gateway.core.kept_request import KeptRequest
from gateway.core.late import Extent, LateResult
from gateway.core.lease import Lease, LeaseMark, LeaseSecret
from gateway.core.outcome import NoReply, NotSent, Outcome, Overdue
from gateway.core.pause import PausesInForce
from gateway.core.quota import Quota, Spending
from gateway.core.record import IntentRecord
from gateway.core.request import HeaderPairs, Headers, Request
from gateway.core.rule import Origin, Rule, Signed, Timeouts, Upstream
from gateway.core.session import Switched
from gateway.core.target import Target, read_target
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
from gateway.flow.marks import Marks
from gateway.flow.pauses import Pauses
from gateway.flow.ports import BodySource, NearEnd
from gateway.flow.waiting import Wakes

STUCK = "stuck"


@dataclass(frozen=True)
class Admit:
    """The store admits; the ticket is the one that it was asked with."""

    revision: int | None = None
    attempt: int = 1
    in_doubt: bool = False


@dataclass(frozen=True)
class Settle:
    """The store settles; the outcome is the one that it was told, unless it knows more."""

    overtaken: bool = False
    revision: int | None = None
    outcome: Outcome | None = None
    incident: Incident | None = None


ADMIT = Admit()
SETTLED = Settle()

UPSTREAM = Upstream("u", Origin("http", "localhost", 80), timeouts=Timeouts(total_s=30.0))
RULE = Rule("r", UPSTREAM)
RESOURCE = ResourceKey("report/7")


INTENT = Intent("k-1", "default", "PUT /reports/7", "digest-of-the-intent", b"fingerprint")
INTENT_ID = IntentId("000digest-of-the-intent")


def write(rule: Rule = RULE, epoch: int = 42, intent: Intent | None = None) -> Write:
    return Write(rule, RESOURCE, Epoch(epoch), None, b"digest", intent=intent)


def request(method: str = "PUT") -> Request:
    target = read_target("/reports/7")
    assert isinstance(target, Target)
    return Request(method, target, Headers(()))


def lease(in_flight: int = 0, epoch: int = 43) -> Lease:
    return Lease(RESOURCE, "b", Epoch(epoch), 60_000, 1_000_000, in_flight)


class Transcript(list[str]):
    """What was asked and answered, in order; `until` waits for a line, or for so many of them."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = asyncio.Event()

    def say(self, line: str) -> None:
        self.append(line)
        self._changed.set()

    async def until(self, line: str, times: int = 1) -> None:
        async with asyncio.timeout(20):
            while self.count(line) < times:
                self._changed.clear()
                await self._changed.wait()


class Script:
    """What one call answers, line by line. Running out of lines is the test's mistake."""

    def __init__(self, *lines: object) -> None:
        self._lines = deque(lines)

    async def next(self) -> object:
        line = self._lines.popleft()
        if line is STUCK:
            await asyncio.Event().wait()
        if isinstance(line, BaseException):
            raise line
        return line


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
            return Admitted(write, ticket, reply.revision, intent, reply.attempt, reply.in_doubt)
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

    async def settle(self, admitted: Admitted, outcome: Outcome, reason: str, kept: KeptAnswer | None) -> Settled:
        keeping = "" if kept is None else f", keeping {kept.status} {kept.body.decode()}"
        reply = await self._ask("settle", f"settle {admitted.ticket} {outcome}: {reason}{keeping}")
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

    async def park(self, write: Write, request: KeptRequest) -> IntentRecord | Replayed | Refused:
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
    """Implements `ports.QuotaStore`; a line for each `spend`. `counted`: the names of the leases that count."""

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


@dataclass
class ScriptedAnswer:
    """Implements `ports.Answer`: `small` is what `read_small` gives, `pieces` what follows."""

    said: Transcript
    status: int = 200
    small: object = (b"ok", True)
    pieces: tuple[object, ...] = ()
    is_stream: bool = False
    reason: bytes = b"OK"
    headers: HeaderPairs = ()

    def __post_init__(self) -> None:
        self._small = Script(self.small)
        self._pieces = Script(*self.pieces)

    async def read_small(self, limit: int) -> tuple[bytes, bool]:
        self.said.say("read small" if limit >= 0 else "read at once")
        taken = await self._small.next()
        assert isinstance(taken, tuple)
        return taken

    async def read(self, within_s: float | None) -> bytes:
        self.said.say("read on")
        piece = await self._pieces.next()
        assert isinstance(piece, bytes)
        return piece

    def close(self) -> None:
        self.said.say("close")


class ScriptedSender:
    """Implements `ports.Sender`."""

    def __init__(self, said: Transcript, *lines: object) -> None:
        self._said = said
        self._script = Script(*lines)
        self.deadlines: list[Deadline] = []

    async def send(
        self, admitted: Admitted, request: Request, body: BodySource, deadline: Deadline
    ) -> ScriptedAnswer | Overdue | NotSent | NoReply:
        self.deadlines.append(deadline)
        return await self._next(f"send {admitted.ticket}")

    async def switch(
        self, admitted: Admitted, request: Request, body: BodySource, deadline: Deadline
    ) -> ScriptedAnswer | Switched | NotSent | NoReply:
        self._said.say(f"switch {admitted.ticket}")
        evidence = await self._script.next()
        assert isinstance(evidence, ScriptedAnswer | Switched | NotSent | NoReply)
        return evidence

    async def read(self, upstream: Upstream, request: Request, body: BodySource) -> ScriptedAnswer | NotSent | NoReply:
        return await self._unfenced("send read")

    async def pass_on(
        self, upstream: Upstream, request: Request, body: BodySource
    ) -> ScriptedAnswer | NotSent | NoReply:
        return await self._unfenced("pass on")

    async def _unfenced(self, line: str) -> ScriptedAnswer | NotSent | NoReply:
        evidence = await self._next(line)
        assert not isinstance(evidence, Overdue)
        return evidence

    async def _next(self, line: str) -> ScriptedAnswer | Overdue | NotSent | NoReply:
        self._said.say(line)
        evidence = await self._script.next()
        assert isinstance(evidence, ScriptedAnswer | Overdue | NotSent | NoReply)
        return evidence


@dataclass
class ScriptedCaller:
    """Implements `ports.Caller`. `takes`: is each piece taken? `gone`: at each look, has the caller left?"""

    said: Transcript
    takes: Iterable[bool] = ()
    gone: Iterable[bool] = ()
    marks: list[Marks] = field(default_factory=list)
    refusals: list[Refused] = field(default_factory=list)
    replays: list[KeptAnswer] = field(default_factory=list)
    expects: bool = False
    near: NearEnd | None = None

    def __post_init__(self) -> None:
        self._takes = iter(self.takes)
        self._gone = iter(self.gone)

    def is_gone(self) -> bool:
        return next(self._gone, False)

    def has_begun(self) -> bool:
        return bool(self.marks or self.refusals)

    def awaits_proceed(self) -> bool:
        return self.expects

    def proceed(self) -> None:
        self.said.say("proceed")

    def as_call(self, body: bytes) -> None:
        self.said.say("as call")

    def refuse(self, refused: Refused) -> None:
        self.refusals.append(refused)
        self.said.say(f"refuse {refused.decision.name}")

    def reply(self, marks: Marks, answer: object, body: bytes) -> None:
        self.marks.append(marks)
        self.said.say(f"reply {marks.outcome or marks.decision.name} {body.decode()}")

    def replay(self, marks: Marks, answer: KeptAnswer) -> None:
        self.marks.append(marks)
        self.replays.append(answer)
        self.said.say(f"replay {answer.status} {answer.body.decode()}")

    def park(self, marks: Marks, record: IntentRecord, waited_s: int | None) -> None:
        self.marks.append(marks)
        self.said.say(f"park {marks.decision.name} {record.state}" + f" after {waited_s} s" * bool(waited_s))

    def switch(self, marks: Marks, switched: Switched) -> NearEnd:
        self.marks.append(marks)
        self.said.say(f"switch {marks.outcome}")
        assert self.near is not None
        return self.near

    def begin(self, marks: Marks, answer: object) -> None:
        self.marks.append(marks)
        self.said.say(f"begin {marks.outcome or marks.decision.name}")

    async def write(self, piece: bytes, within_s: float | None) -> bool:
        self.said.say(f"write {piece.decode()}{'' if within_s is None else ' in time'}")
        return next(self._takes, True)

    def end(self) -> None:
        self.said.say("end")

    def abort(self) -> None:
        self.said.say("abort")


class NoBody:
    """Implements `ports.BodySource`: nothing was sent, nothing may be asked for."""

    length: int | None = 0

    async def read(self) -> bytes:
        return b""

    def take_buffered(self) -> bytes | None:
        return b""

    def restrict(self, limit: int | None) -> None:
        assert limit is None

    async def hold(self, limit: int) -> bytes:
        return b""

    async def spool(self, feed: Callable[[bytes], None], in_memory: int) -> bytes | None:
        feed(b"")
        return b""

    def rewind(self) -> bool:
        return True


@dataclass
class Counted:
    """Implements `ports.Observer`."""

    said: list[str] = field(default_factory=list)

    def sent(self, upstream: Upstream) -> None:
        self.said.append("sent")

    def ended(self, upstream: Upstream, seconds: float) -> None:
        self.said.append("ended")

    def session_began(self, upstream: Upstream) -> None:
        self.said.append("session began")

    def session_ended(self, upstream: Upstream) -> None:
        self.said.append("session ended")

    def overtaken(self) -> None:
        self.said.append("overtaken")

    def quarantined(self, rule: Rule, extent: Extent) -> None:
        self.said.append(f"quarantined {extent}")

    def incident(self, kind: Incident) -> None:
        self.said.append(kind)
