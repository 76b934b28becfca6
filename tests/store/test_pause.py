"""Pauses of a resource: while one lasts, no write of it is admitted."""

from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.epoch import Epoch
from gateway.core.write import Admitted, ResourceKey, Write
from gateway.store.fence import FenceStore
from gateway.store.intents import Pause, pause, resume
from gateway.store.keys import audit_trail, paused_resources, shard_keys, shard_of
from gateway.store.views.audit_views import Sought, events
from gateway.store.views.pause_views import pause_of
from tests.store.fences import (
    ANSWER,
    RESOURCE,
    TTL_S,
    admitted,
    ask,
    bare,
    ended,
    everything,
    granted,
    keyed,
    leased,
    name_of,
    settled,
)

SHARD = shard_of(RESOURCE)


async def paused(store: FenceStore, id: str = "p1") -> Pause:
    return await pause(store, RESOURCE, id=id, reason="mails go out twice", by="operator")


async def test_no_write_is_admitted_while_a_pause_lasts(store: FenceStore) -> None:
    """Not by a newer epoch, which is not recorded, nor by a stale one; other resources go on."""
    await ended(store, bare(42), "applied")
    begun = await paused(store)

    assert [name_of(await ask(store, bare(epoch))) for epoch in (41, 42, 43)] == ["paused"] * 3
    other = Write(bare(42).rule, ResourceKey("report/8"), Epoch(42), "A", None)
    assert isinstance(await ask(store, other), Admitted)

    await resume(store, begun)
    assert [name_of(await ask(store, bare(epoch))) for epoch in (41, 42)] == ["stale-epoch", "Admitted"]


async def test_what_was_applied_before_is_not_replayed_while_a_pause_lasts(store: FenceStore) -> None:
    """Its caller is told that it was applied."""
    await ended(store, keyed(bare(42)), "applied", ANSWER)
    await paused(store)

    reply = await ask(store, keyed(bare(42)))

    assert isinstance(reply, Refused)
    assert (reply.decision.name, reply.facts.intent_state) == ("paused", "applied")


async def test_what_was_admitted_before_a_pause_ends(store: FenceStore) -> None:
    """Its own repeat is recognised, and settling records what became of it."""
    one = await admitted(store, keyed(bare(42)))
    await paused(store)

    again = await store.admit(one.write, one.ticket, ttl_s=TTL_S, queued=False, behind=0)

    assert again == one
    assert (await settled(store, one, "applied", ANSWER)).outcome == "applied"


async def test_leases_are_granted_while_a_pause_lasts(store: FenceStore) -> None:
    """A pause stops writes, not owners; their writes pass once it is over."""
    begun = await paused(store)
    lease = await granted(store)
    assert name_of(await ask(store, leased(lease.epoch))) == "paused"

    await resume(store, begun)

    assert name_of(await ask(store, leased(lease.epoch))) == "Admitted"


async def test_the_pause_that_lasts_already_is_told(store: FenceStore) -> None:
    """Begun a second time it is the first one, whoever asks; so is its repeat."""
    begun = await paused(store)

    assert (begun.id, begun.resource, begun.reason, begun.by) == ("p1", RESOURCE, "mails go out twice", "operator")
    assert abs(begun.created_at_ms - store.expected_ms()) < 60_000
    assert [await paused(store, "p1"), await paused(store, "p2")] == [begun, begun]
    assert await pause_of(store, RESOURCE) == begun


async def test_a_pause_is_ended_by_its_own_id(store: FenceStore, raw: Any) -> None:
    """One that was begun since stays; ended twice it is ended once."""
    begun = await paused(store)
    await resume(store, begun)
    newer = await paused(store, "p2")

    await resume(store, begun)
    assert await pause_of(store, RESOURCE) == newer

    await resume(store, newer)
    assert await pause_of(store, RESOURCE) is None
    assert sorted(everything(raw)) == sorted(key.encode() for key in (audit_trail(SHARD), f"{shard_keys(SHARD)[6]}n"))


async def test_begin_and_end_are_in_the_audit_trail(store: FenceStore) -> None:
    """Once each, however often they are asked for."""
    begun = await paused(store)
    await paused(store, "p2")
    await resume(store, begun, "another operator")
    await resume(store, begun, "another operator")

    found = (await events(store, Sought(resource=RESOURCE), None)).items

    assert [(event.before, event.after, event.intent, event.by) for event in reversed(found)] == [
        ("", "paused", "p1", "operator"),
        ("paused", "resumed", "p1", "another operator"),
    ]
    assert {event.reason for event in found} == {"mails go out twice"}


async def test_a_paused_resource_is_listed(store: FenceStore, raw: Any) -> None:
    """Until the pause is over."""
    begun = await paused(store)
    assert raw.zrange(paused_resources(shard_of(RESOURCE)), 0, -1) == [RESOURCE.encode()]

    await resume(store, begun)
    assert raw.zcard(paused_resources(shard_of(RESOURCE))) == 0


@pytest.mark.parametrize("call", ["advance", "register", "grant"])
async def test_a_pause_outlives_epochs(store: FenceStore, call: str) -> None:
    """Whatever raises the highest epoch, a pause ends by its id only."""
    await ended(store, bare(42), "applied")
    begun = await paused(store)
    if call == "advance":
        await store.advance(RESOURCE, None, "request")
    elif call == "register":
        await store.register(RESOURCE, Epoch(43), "B", watch=False)
    else:
        await granted(store)

    assert await pause_of(store, RESOURCE) == begun
