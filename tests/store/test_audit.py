"""The audit trail beside the steps of writes: who had which epoch, and whom the fence refused."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.epoch import Epoch
from gateway.core.lease import Lease
from gateway.core.rule import Mode
from gateway.core.write import ResourceKey
from gateway.store.fence import FenceStore
from gateway.store.keys import shard_of
from gateway.store.views.audit_views import Event, Sought, events
from tests.store.fences import OTHER_SECRET, RESOURCE, SECRET, ask, bare, ended, granted, leased, name_of, rule

# As parts/audit.lua has it.
REFUSALS = 16


async def told(store: FenceStore) -> list[tuple[str, str, str, str]]:
    """The oldest first: what happened, at which epoch, to whom, and why."""
    page = await events(store, Sought(resource=RESOURCE), None)
    return [(event.after, event.epoch, event.holder, event.reason) for event in reversed(page.items)]


async def taken(store: FenceStore, holder: str, secret: bytes, ttl_ms: int = 60_000) -> Lease:
    lease = await store.grant(RESOURCE, holder, secret, ttl_ms=ttl_ms, takeover=True, watch=False)
    assert isinstance(lease, Lease)
    return lease


async def refusals(store: FenceStore) -> list[Event]:
    page = await events(store, Sought(resource=RESOURCE), None)
    return [event for event in page.items if event.after == "refused"]


async def test_who_was_granted_a_lease_and_how_the_one_before_ended(store: FenceStore, raw: Any) -> None:
    """Renewals are not told: when a lease ended is told by its release, or by the next grant."""
    first = await granted(store, holder="A")
    await store.renew(RESOURCE, first.epoch, SECRET)
    second = await taken(store, "B", OTHER_SECRET, ttl_ms=1500)
    await store.release(RESOURCE, second.epoch, OTHER_SECRET)
    third = await taken(store, "C", SECRET)
    raw.hset(f"fg:{{{shard_of(RESOURCE)}}}:f:{RESOURCE}", "x", store.expected_ms() - 5000)
    fourth = await taken(store, "D", OTHER_SECRET)

    steps = await told(store)

    assert [step[:3] for step in steps] == [
        ("granted", str(first.epoch), "A"),
        ("granted", str(second.epoch), "B"),
        ("released", str(second.epoch), "B"),
        ("granted", str(third.epoch), "C"),
        ("granted", str(fourth.epoch), "D"),
    ]
    assert steps[0][3] == "for 60 s"
    assert steps[1][3].startswith("for 1.5 s, taken over from A with ")
    assert steps[2][3].startswith("with ") and steps[2][3].endswith(" s left")
    assert steps[3][3] == "for 60 s, B had given it back"
    assert steps[4][3].startswith("for 60 s, 5.") and steps[4][3].endswith(" s after the lease of C ran out")


async def test_a_repeated_call_is_told_once(store: FenceStore) -> None:
    """Its answer was lost, and it was done once."""
    lease = await granted(store, holder="A")
    await granted(store, holder="A")
    for _ in range(2):
        await store.release(RESOURCE, lease.epoch, SECRET)
    advanced = [await store.advance(RESOURCE, None, "the call") for _ in range(2)]
    for _ in range(2):
        await store.register(RESOURCE, Epoch(2**63), "B", watch=False)

    assert [(after, epoch) for after, epoch, *_ in await told(store)] == [
        ("granted", str(lease.epoch)),
        ("released", str(lease.epoch)),
        ("advanced", str(advanced[0])),
        ("registered", str(2**63)),
    ]


async def test_an_advance_names_who_was_ended(store: FenceStore) -> None:
    """And by whom."""
    await store.register(RESOURCE, Epoch(41), "A", watch=False)
    await store.advance(RESOURCE, Epoch(50), "the call")

    event, registered = (await events(store, Sought(resource=RESOURCE), None)).items

    assert (event.after, event.epoch, event.reason, event.by) == ("advanced", "50", "above epoch 41 of A", "operator")
    assert (registered.after, registered.holder, registered.by) == ("registered", "A", store.gateway)


@pytest.mark.parametrize(
    ("epoch", "holder", "word"),
    [
        pytest.param(41, "A", "stale-epoch", id="an older epoch"),
        pytest.param(42, "B", "holder-mismatch", id="another holder"),
    ],
)
@pytest.mark.parametrize("how", ["admitted", "peeked", "registered"])
async def test_what_the_fence_refuses_is_told(store: FenceStore, how: str, epoch: int, holder: str, word: str) -> None:
    """Whoever it came from, and before whichever call: once, however often it is tried."""
    await ended(store, bare(42), "applied")
    for _ in range(3):
        if how == "admitted":
            await ask(store, bare(epoch, holder))
        elif how == "peeked":
            await store.peek(bare(epoch, holder))
        else:
            await store.register(RESOURCE, Epoch(epoch), holder, watch=False)

    (event,) = await refusals(store)

    assert (event.epoch, event.holder, event.reason, event.by) == (str(epoch), holder, word, store.gateway)
    assert event.rule == ("" if how == "registered" else "replace")


async def test_an_expired_lease_is_told(store: FenceStore, raw: Any) -> None:
    """Nobody has taken over, and its holder was refused all the same."""
    lease = await granted(store)
    await store.release(RESOURCE, lease.epoch, SECRET)
    await ask(store, leased(lease.epoch))

    assert [(event.reason, event.holder) for event in await refusals(store)] == [("lease-expired", "A")]


async def test_who_tries_on_and_on_pushes_nothing_out(store: FenceStore, raw: Any) -> None:
    """Whatever epochs are made up: so many refusals of a shard are told within a minute."""
    await ended(store, bare(1000), "applied")
    for epoch in range(1, 3 * REFUSALS):
        await ask(store, bare(epoch))

    assert len(await refusals(store)) == REFUSALS
    remaining = raw.pttl(f"fg:{{{shard_of(RESOURCE)}}}:refused")
    assert 0 < remaining <= 60_000


@pytest.mark.parametrize(("mode", "count"), [("enforce", 1), ("observe", 0)])
async def test_what_is_only_observed_was_not_refused(store: FenceStore, mode: Mode, count: int) -> None:
    """The write went through, and the trail does not say otherwise."""
    await ended(store, bare(42), "applied")
    of = replace(rule(), mode=mode)
    await ask(store, bare(41, of=of))
    await store.peek(bare(41, of=of))

    assert len(await refusals(store)) == count


async def test_what_cannot_be_told_is_refused_all_the_same(store: FenceStore, raw: Any) -> None:
    """The trail is no reason to let anybody in, nor to say that the store is away."""
    await ended(store, bare(42), "applied")
    raw.set(f"fg:{{{shard_of(RESOURCE)}}}:refused", "no hash")

    assert name_of(await ask(store, bare(41))) == "stale-epoch"
    assert await refusals(store) == []


async def test_another_resource_of_the_shard_has_its_own_refusals(store: FenceStore) -> None:
    """An epoch is a resource's."""
    names = (ResourceKey(f"order/{number}") for number in range(100_000))
    other = next(name for name in names if shard_of(name) == shard_of(RESOURCE))
    await ended(store, bare(42), "applied")
    await store.register(other, Epoch(42), "A", watch=False)
    await ask(store, bare(41))
    await store.register(other, Epoch(41), "A", watch=False)

    assert [event.resource for event in await refusals(store)] == [RESOURCE]
    page = await events(store, Sought(resource=other), None)
    assert [event.after for event in page.items] == ["refused", "registered"]


async def test_what_a_request_did_bears_its_trace(store: FenceStore) -> None:
    """Each step that it made, and its refusal, before its body was read or after; of others their own, or none."""
    one, two, three = "1" * 32, "a" * 32, "f" * 32
    await ended(store, replace(bare(42), trace_id=one), "applied")
    await ask(store, replace(bare(41), trace_id=two))
    await store.peek(replace(bare(40), trace_id=three))
    await ended(store, bare(42), "applied")

    steps = (await events(store, Sought(resource=RESOURCE), None)).items

    assert [(event.after, event.trace_id) for event in reversed(steps)] == [
        ("in_flight", one), ("applied", one), ("refused", two), ("refused", three), ("in_flight", ""), ("applied", ""),
    ]  # fmt: skip
