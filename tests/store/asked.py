"""Intents whose upstream can be asked, and what time does to them: the store's own instants are put into the past."""

from dataclasses import replace
from typing import Any

from gateway.core.intent import IntentId
from gateway.core.rule import IntentTerms, Rule
from gateway.core.write import Admitted, ResourceKey, Write
from gateway.store.fence import FenceStore
from gateway.store.keys import intent_id, questions, shard_of, shard_of_id
from tests.intending import RULE, SEVEN, ended, intended
from tests.store.overdue import UPDATED_AT, move_back

_LONG_AGO_MS = 1000


def asked_rule(ask_after_s: float = 1.0, *, upstream: str = "reports") -> Rule:
    """A rule under `on_unknown: query`."""
    terms = IntentTerms("required", on_unknown="query", ask_after_s=ask_after_s)
    return replace(RULE, upstream=replace(RULE.upstream, name=upstream), intent=terms)


def keyed(key: str, of: Rule | None = None, resource: ResourceKey = SEVEN) -> Write:
    """A write that is the intent of this key."""
    return intended(key, resource, of=of or asked_rule())


async def in_doubt(store: FenceStore, write: Write) -> Admitted:
    """Admit a write that ends unknown."""
    return await ended(store, write, "unknown")


def id_of(write: Write) -> IntentId:
    assert write.intent is not None
    return intent_id(write.resource, write.intent.digest)


def make_due(raw: Any, id: IntentId) -> None:
    """The next question's time has come."""
    shard = shard_of_id(id)
    assert shard is not None
    raw.zadd(questions(shard), {id: _LONG_AGO_MS}, xx=True)


def age(raw: Any, id: IntentId, seconds: float) -> None:
    """The intent has been unknown for that much longer."""
    move_back(raw, id, UPDATED_AT, seconds)


def has_been_up(store: FenceStore, seconds: float = 3600) -> None:
    """Since then this gateway has known the store's clock, which took no step."""
    store._clock._steady_since -= seconds


def listed(raw: Any, resource: ResourceKey = SEVEN) -> list[str]:
    """The ids that are asked about in the resource's shard."""
    return [member.decode() for member in raw.zrange(questions(shard_of(resource)), 0, -1)]
