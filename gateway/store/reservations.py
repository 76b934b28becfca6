"""Reservations of budgets whose gateway has not said what became of them: it is asked of their records, and what did
nothing is given back. Never by time alone: an attempt that nobody can judge keeps what it took.
"""

import json
from typing import cast

from gateway.core.budget import Claim, Fate, is_spent, is_undone
from gateway.core.intent import IntentId
from gateway.core.rule import Rule
from gateway.core.write import ResourceKey
from gateway.store.answer import fields, text
from gateway.store.budgets import confirm, give_back
from gateway.store.fence import FenceStore
from gateway.store.keys import pending_reservations, reservation, resource_keys
from gateway.store.script import Script

FATE = Script("fate")

# Of one rule in one turn; the rest a second later.
_AT_ONCE = 100
# What is unknown, or not yet sent, is asked again so much later.
_AGAIN_MS = 5_000


async def judge_reservations(store: FenceStore, rule: Rule) -> None:
    """Find out what became of a rule's reservations that should be known by now. Raises StoreUnavailable."""
    key = pending_reservations(rule.upstream.name, rule.name)
    due = await store.link.call("ZRANGE", key, "-inf", store.expected_ms(), "BYSCORE", "LIMIT", 0, _AT_ONCE)
    assert isinstance(due, list)
    for id in due:
        await _judge(store, rule, IntentId(text(id)))


async def _judge(store: FenceStore, rule: Rule, id: IntentId) -> None:
    # The claims first: one that is made after this look is not judged by what is known of those before it.
    claims, resource = await _claims(store, rule, id)
    if resource is None:
        await confirm(store, rule, id)
        return
    fate, now_ms = await _fate(store, resource, id)
    undone = [claim.attempt for claim in claims if is_undone(claim, fate, now_ms)]
    if undone:
        await give_back(store, rule, id, *undone)
    if is_spent(claims, fate, now_ms):
        await confirm(store, rule, id)
    else:
        key = pending_reservations(rule.upstream.name, rule.name)
        await store.link.call("ZADD", key, "XX", now_ms + _AGAIN_MS, id)


async def _claims(store: FenceStore, rule: Rule, id: IntentId) -> tuple[list[Claim], ResourceKey | None]:
    """What has been reserved for one action, and its resource; None where all of it has left the windows."""
    found = fields(await store.link.call("HGETALL", reservation(rule.upstream.name, rule.name, id)))
    claims, resource = [], None
    for attempt, packed in found.items():
        told = json.loads(text(packed))
        claims.append(Claim(attempt, int(told["until"]), int(told["proves"])))
        resource = ResourceKey(told["resource"])
    return claims, resource


async def _fate(store: FenceStore, resource: ResourceKey, id: IntentId) -> tuple[Fate, int]:
    answer = await store.run(FATE, resource_keys(resource), id)
    return cast(Fate, text(answer.rest[0])), answer.now_ms
