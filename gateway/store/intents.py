"""Intents apart from their writes: looked at, asked about, resolved; and pauses of their resources."""

import json
from dataclasses import dataclass
from typing import Literal

from gateway.core.decision import NO_SUCH_INTENT, WRONG_STATE, Facts, Refused
from gateway.core.intent import IntentId, ResolvedBy
from gateway.core.record import IntentRecord
from gateway.core.write import ResourceKey
from gateway.store.answer import number, text, unknown_word
from gateway.store.fence import FenceStore
from gateway.store.keys import resource_keys, shard_keys, shard_of_id
from gateway.store.links.link import Reply
from gateway.store.reply import OWN_QUERY, record_of
from gateway.store.script import Script

ASK = Script("ask")
RESOLVE = Script("resolve")
PAUSE = Script("pause")
RESUME = Script("resume")

# An upstream that has not known for hours will hardly know within the next minutes.
_LONGEST_DISTANCE_MS = 300_000

Resolution = Literal["applied", "not_applied", "duplicated"]


@dataclass(frozen=True, slots=True)
class Resolve:
    """An unknown intent's resolution: `by` whom, for which `reason`, and what a query answered.

    `who` is told by the audit trail. `duplicated` means applied more than once; it pauses the resource. `is_own`:
    the query named this very intent, so that what it answered is about nobody else's.
    """

    outcome: Resolution
    by: ResolvedBy
    reason: str
    who: str
    evidence: bytes = b""
    is_own: bool = False

    @property
    def word(self) -> str:
        """`by`, as the record has it."""
        return OWN_QUERY if self.is_own else self.by


@dataclass(frozen=True, slots=True)
class Question:
    """An unknown intent whose upstream is to be asked now. `since_ms`: from then on no attempt of it was in flight.
    Both instants are of the store's clock.
    """

    record: IntentRecord
    now_ms: int
    since_ms: int

    @property
    def unknown_for_s(self) -> float:
        return (self.now_ms - self.since_ms) / 1000


@dataclass(frozen=True, slots=True)
class Pause:
    """All writes of a resource are refused. `created_at_ms` is of the store's clock, since 1970."""

    id: str
    resource: ResourceKey
    reason: str
    by: str
    created_at_ms: int


async def question(store: FenceStore, id: IntentId) -> Question | None:
    """Take the turn to ask about an intent; None if it is resolved, or if another gateway has taken it.

    Raises StoreUnavailable, as all calls here do.
    """
    shard = shard_of_id(id)
    assert shard is not None
    arguments = id, str(_LONGEST_DISTANCE_MS), store.lasts_ms()
    answer = await store.run(ASK, shard_keys(shard), *arguments)
    if answer.word != "asked":
        return None
    return Question(record_of(answer.rest[1:]), answer.now_ms, number(answer.rest[0]))


async def resolve(
    store: FenceStore, record: IntentRecord, resolve: Resolve, attempt: int | None = None
) -> IntentRecord | Refused:
    """Resolve an unknown intent as it was when it was looked at, once. Refused: `wrong-state`, `no-such-intent`.

    `attempt`: the one that is known about; without it the newest that `record` tells of.
    """
    about = record.attempts if attempt is None else attempt
    arguments = (resolve.outcome, resolve.word, resolve.reason, resolve.evidence, resolve.who, str(about))
    keys = resource_keys(record.resource)
    answer = await store.run_in_time(RESOLVE, keys, record.resource, record.id, *arguments)
    match answer.word:
        case "resolved":
            return record_of(answer.rest)
        case "wrong-state":
            return _wrong_state(about, record_of(answer.rest))
        case "unseen":
            facts = Facts(intent=record.id)
            return Refused(NO_SUCH_INTENT, "Nothing was done: the intent is no longer kept.", facts)
        case _:
            raise unknown_word(answer)


async def pause(store: FenceStore, resource: ResourceKey, *, id: str, reason: str, by: str) -> Pause:
    """Stop all writes of a resource; returns the pause that lasts already, if there is one."""
    answer = await store.run_in_time(PAUSE, resource_keys(resource), resource, id, reason, by)
    return read_pause(answer.rest[0])


async def resume(store: FenceStore, pause: Pause, by: str = "operator") -> None:
    """Let the writes go on, unless a wider pause stops them too."""
    await store.run_in_time(RESUME, resource_keys(pause.resource), pause.resource, pause.id, by)


def read_pause(packed: Reply) -> Pause:
    """A pause as the fence record has it."""
    fields = json.loads(text(packed))
    resource = ResourceKey(fields["resource"])
    return Pause(fields["id"], resource, fields["reason"], fields["by"], int(fields["created_at"]))


def _wrong_state(attempt: int, record: IntentRecord) -> Refused:
    detail = f"Nothing was done: the intent is {record.state}, and only an unknown one can be resolved."
    if record.attempts != attempt:
        newest = f"the newest is attempt {record.attempts}, and the intent is {record.state}"
        detail = f"Nothing was done: that was said of attempt {attempt}; {newest}. Look again."
    return Refused(WRONG_STATE, detail, Facts(resource=record.resource, intent=record.id, intent_state=record.state))
