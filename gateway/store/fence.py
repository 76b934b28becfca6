"""The fence: one method for each script. Nothing is decided here; a method spells a question and reads the answer."""

import base64
import hashlib
import hmac
import itertools
import json
import secrets
from collections.abc import Callable, Coroutine, Sequence

from gateway.core.caller import ANONYMOUS
from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.faults import StoreUnavailable
from gateway.core.intent import IntentId, KeptAnswer
from gateway.core.lease import Lease
from gateway.core.outcome import Outcome
from gateway.core.record import IntentRecord
from gateway.core.write import AdmitReply, Admitted, ResourceKey, Settled, TicketId, Write
from gateway.store import reply
from gateway.store.abandoned import Abandoned
from gateway.store.answer import Answer, number, read_answer
from gateway.store.clock import StoreClock
from gateway.store.kept import deflate_answer
from gateway.store.keys import PEPPER, PROBE, intent_id, resource_keys, shard_keys, shard_of, shard_of_id
from gateway.store.link import Link
from gateway.store.refusal import Asked
from gateway.store.reply import FenceRecord
from gateway.store.script import Script
from gateway.store.seen import SeenEpochs
from gateway.store.wake import Wake

ADMIT = Script("admit")
SETTLE = Script("settle")
PEEK = Script("peek")
RECALL = Script("recall")
LEAVE = Script("leave")
GRANT = Script("grant")
RENEW = Script("renew")
RELEASE = Script("release")
REGISTER = Script("register")
ADVANCE = Script("advance")
SWEEP = Script("sweep")
LOOK = Script("look")

# Past a ticket's deadline, an admission that arrives only now would be swept: the last moment to abandon it instead.
_GRACE_S = 1.0
# Until an abandoned ticket is tried again when the store was away.
_AGAIN_S = 0.5

# Whoever looks at the store's keys should not find this one.
_PROBE_MS = 1000

OnCall = Callable[[str, float], None]


class FenceStore:
    """The store's side of `gateway.flow.ports.Store`, for one gateway. Every call raises StoreUnavailable.

    `on_call` is told the name of each script that answered, and how many seconds that took.
    """

    def __init__(self, link: Link, wake: Wake, gateway: str, clock: StoreClock) -> None:
        self.link = link
        self.gateway = gateway
        self.on_call: OnCall = _unobserved
        self._wake = wake
        self._clock = clock
        self._seen = SeenEpochs()
        self._tickets = itertools.count(1)
        self._pepper: bytes | None = None
        self._abandoned = Abandoned(self._abandon)

    @property
    def healthy(self) -> bool:
        """Whether the store answered the last time that it was asked, and is connected."""
        return self.link.healthy

    def expected_ms(self) -> int:
        """What the store's clock should say now, in milliseconds since 1970, unless it jumped."""
        return self._clock.expected_ms()

    async def ping(self) -> None:
        """Whether a write could be recorded now: a store may answer and have no room, or be a replica."""
        await self.link.call("SET", PROBE, self.gateway, "PX", _PROBE_MS)

    async def close(self) -> None:
        await self._abandoned.close()
        await self._wake.close()
        await self.link.close()

    def new_ticket(self, resource: ResourceKey) -> TicketId:
        return TicketId(f"{shard_of(resource)}{self.gateway}{next(self._tickets):x}")

    async def admit(self, write: Write, ticket: TicketId, *, ttl_s: float, queued: bool, behind: int) -> AdmitReply:
        self._clock.hold(ttl_s)
        answer = await self._ask(
            ADMIT,
            write.resource,
            *(write.resource, ticket, self.gateway, str(write.epoch), write.holder or "", write.secret_digest or b""),
            *(self._expected(), write.rule.upstream.name, write.rule.name, _asks(write, ttl_s, queued, behind)),
            *_intent_arguments(write, None),
        )
        self._seen.note(write.resource, write.epoch if answer.word == "admitted" else 0)
        return reply.admit_reply(answer, write, ticket)

    async def settle(self, admitted: Admitted, outcome: Outcome, reason: str, kept: KeptAnswer | None) -> Settled:
        answer = await self._end(admitted, outcome, reason, kept)
        return reply.settle_reply(answer, admitted.write)

    async def peek(self, write: Write) -> Refused | None:
        """What admission would refuse now, whatever the body says; it moves nothing and is not counted."""
        arguments = (str(write.epoch), write.holder or "", write.secret_digest or b"")
        return reply.peek_reply(await self._ask(PEEK, write.resource, *arguments), write)

    async def abandon(self, write: Write, ticket: TicketId) -> None:
        """Ends the ticket now, and once more when its life is over: its admission may still be on the way."""
        self._abandoned.add(write, ticket, write.rule.upstream.timeouts.total_s + _GRACE_S)
        try:
            await self._abandon(write, ticket)
        except StoreUnavailable:
            self._abandoned.add(write, ticket, _AGAIN_S)
            raise

    async def leave(self, resource: ResourceKey) -> None:
        await self._ask(LEAVE, resource, resource, self.gateway)

    async def look(self, resource: ResourceKey) -> FenceRecord | None:
        """The resource's fence, or None if no epoch of it was ever seen."""
        return reply.look_reply(await self._ask(LOOK, resource), resource)

    async def recall(self, id: str) -> IntentRecord | None:
        """What is known of an intent, or of a write without a key that ended unknown; None for an id of nothing."""
        shard = shard_of_id(id)
        if shard is None:
            return None
        answer = await self.run(RECALL, shard_keys(shard), id)
        return reply.record_of(answer) if answer.word == "recalled" else None

    async def revision(self, resource: ResourceKey) -> int:
        record = await self.look(resource)
        return record.revision if record is not None else 0

    async def lookup(self, resource: ResourceKey) -> Lease | None:
        record = await self.look(resource)
        return record.lease if record is not None else None

    async def grant(
        self, resource: ResourceKey, holder: str, secret_digest: bytes, *, ttl_ms: int, takeover: bool, watch: bool
    ) -> Lease | Refused:
        words = " ".join(["takeover"] * takeover + ["watch"] * watch)
        seen = str(self._seen.largest(resource))
        answer = await self._ask(
            GRANT,
            resource,
            *(resource, self.gateway, holder, secret_digest, str(ttl_ms), self._expected(), seen, words),
        )
        lease = reply.lease_reply(answer, Asked("Not granted", resource, None))
        if isinstance(lease, Lease):
            self._seen.note(resource, lease.epoch)
        return lease

    async def renew(self, resource: ResourceKey, epoch: Epoch, secret_digest: bytes) -> Lease | Refused:
        answer = await self._ask(RENEW, resource, str(epoch), secret_digest)
        return reply.lease_reply(answer, Asked("Not renewed", resource, epoch))

    async def release(self, resource: ResourceKey, epoch: Epoch, secret_digest: bytes) -> Lease | Refused:
        answer = await self._ask(RELEASE, resource, resource, str(epoch), secret_digest)
        return reply.lease_reply(answer, Asked("Not released", resource, epoch))

    async def register(self, resource: ResourceKey, epoch: Epoch, holder: str, *, watch: bool) -> int | Refused:
        arguments = (resource, self.gateway, str(epoch), holder, self._expected(), "watch" if watch else "")
        answer = await self._ask(REGISTER, resource, *arguments)
        self._seen.note(resource, epoch if answer.word == "registered" else 0)
        return reply.register_reply(answer, Asked("Not registered", resource, epoch))

    async def advance(self, resource: ResourceKey, epoch: Epoch | None, request: str) -> Epoch | Refused:
        """Raise the highest epoch to `epoch`, or to the next one, and end the lease: an operator stops whoever writes.

        `request` identifies the call, so that its repeat raises nothing. Refused with `stale-epoch` if the epoch is not
        larger than the highest, and with `epochs-exhausted`.
        """
        wanted = "" if epoch is None else str(epoch)
        answer = await self._ask(ADVANCE, resource, resource, wanted, request, str(self._seen.largest(resource)))
        return reply.advance_reply(answer, Asked("Not advanced", resource, epoch))

    async def sweep(self, resource: ResourceKey, ticket: TicketId) -> int:
        """End the overdue tickets of a resource, `ticket` being one; returns how many ended, each as unknown."""
        answer = await self._ask(SWEEP, resource, resource, ticket, self._expected())
        return number(answer.rest[0])

    async def lease_secret(self, tenant: str, principal: str, key: str, resource: ResourceKey, holder: str) -> str:
        """256 bits, from a key that only the store has: all gateways find the same secret, and nobody else does."""
        if self._pepper is None:
            await self.link.call("SET", PEPPER, secrets.token_bytes(32), "NX")
            pepper = await self.link.call("GET", PEPPER)
            assert isinstance(pepper, bytes)
            self._pepper = pepper
        about = json.dumps([tenant, principal, key, resource, holder]).encode()
        digest = hmac.digest(self._pepper, about, hashlib.sha256)
        return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()

    async def knows(self, resource: ResourceKey) -> bool:
        """Whether the resource has a fence record."""
        return self._seen.largest(resource) > 0 or bool(await self.link.call("EXISTS", resource_keys(resource)[0]))

    async def run(self, script: Script, keys: Sequence[str], *arguments: str | bytes) -> Answer:
        """One script's answer; its time is told to `on_call`."""
        asked = self._clock.read()
        answer = read_answer(await script.run(self.link, keys, arguments))
        answered = self._clock.read()
        self._clock.learn(answer.now_ms, asked, answered)
        self.on_call(script.name, answered - asked)
        return answer

    def _ask(self, script: Script, resource: ResourceKey, *arguments: str | bytes) -> Coroutine[None, None, Answer]:
        return self.run(script, resource_keys(resource), *arguments)

    async def _end(self, admitted: Admitted, outcome: str, reason: str, kept: KeptAnswer | None) -> Answer:
        write, rule = admitted.write, admitted.write.rule
        return await self._ask(
            SETTLE,
            write.resource,
            *(write.resource, admitted.ticket, str(write.epoch), write.holder or "", rule.upstream.name, rule.name),
            *(outcome, reason, self._tells(admitted)),
            *_intent_arguments(write, admitted.intent),
            b"" if kept is None else deflate_answer(kept),
        )

    async def _abandon(self, write: Write, ticket: TicketId) -> None:
        admitted = Admitted(write, ticket, None, reply.intent_of(write, ticket))
        await self._end(admitted, "abandoned", "nothing was sent", None)

    def _tells(self, admitted: Admitted) -> str:
        """What settling has to know of an attempt, in the script's words."""
        write = admitted.write
        words = [f"by:{self.gateway}", f"attempt:{admitted.attempt}", *_intent_words(write)]
        if write.sequence is not None and write.rule.fence.sequence != "off":
            words.append(f"sequence:{write.sequence}")
        if write.rule.revision == "gateway":
            words.append("counts")
        if admitted.in_doubt:
            words.append("in-doubt")
        if write.principal != ANONYMOUS:
            words.append(f"principal:{write.principal}")
        return " ".join(words)

    def _expected(self) -> str:
        return str(self.expected_ms())


def _asks(write: Write, ttl_s: float, queued: bool, behind: int) -> str:
    """What rule and request ask of admission, in the script's words."""
    fence = write.rule.fence
    words = [f"ttl:{round(ttl_s * 1000)}", *_intent_words(write)]
    native = write.rule.upstream.native_key
    if write.intent is not None and write.rule.intent.on_unknown == "retry" and native is not None:
        words.append(f"retry:{round(native.retain_s * 1000)}")
    if fence.order == "strict":
        words.append("strict")
    if fence.concurrency == "serial":
        words.append("serial")
    if fence.sequence != "off":
        assert write.sequence is not None
        words.append(f"{fence.sequence}:{write.sequence}")
    if write.rule.revision == "gateway":
        words.append("counts")
        if write.if_revision is not None:
            words.append(f"if-revision:{write.if_revision}")
    if queued:
        words.append("queued")
    if behind:
        words.append("behind")
    if write.rule.mode == "observe":
        words.append("observes")
    if write.principal != ANONYMOUS:
        words.append(f"principal:{write.principal}")
    return " ".join(words)


def _intent_words(write: Write) -> list[str]:
    if write.intent is None:
        return []
    terms = write.rule.intent
    words = [f"retain:{round(terms.retain_s * 1000)}"]
    if terms.ask_after_s is not None:
        words.append(f"query:{round(terms.ask_after_s * 1000)}")
    native = write.rule.upstream.native_key
    if native is not None:
        words.append(f"native:{native.header.decode('ascii').lower()}")
    return words


def _intent_arguments(write: Write, record: IntentId | None) -> tuple[str | bytes, ...]:
    """The record's id, the fingerprint, and what people are shown. `record`: the id where the write is no intent."""
    intent = write.intent
    if intent is None:
        return record or "", b"", ""
    about = json.dumps((intent.key, intent.tenant, intent.target), separators=(",", ":"), ensure_ascii=False)
    return intent_id(write.resource, intent.digest), intent.fingerprint, about


def _unobserved(name: str, seconds: float) -> None:
    """The observer where nobody observes."""
