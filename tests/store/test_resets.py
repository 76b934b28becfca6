"""An operator forgets the epoch of a resource whose epochs have run out, and nothing that was under way is lost."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from gateway.core.decision import NO_SUCH_RESOURCE, STORE_REGRESSED, WRONG_STATE, Refused
from gateway.core.epoch import HIGHEST, Epoch
from gateway.store.fence import FenceStore
from gateway.store.keys import in_state, resource_keys, shard_of
from gateway.store.resets import reset
from gateway.store.views import audit_views
from gateway.store.views.audit_views import Sought
from tests.store.compensating import applied, begun
from tests.store.fences import (
    OTHER_SECRET,
    RESOURCE,
    admitted,
    ask,
    bare,
    ended,
    granted,
    keyed,
    leased,
    name_of,
    settled,
)
from tests.store.losing import remembering
from tests.store.parked import APPROVED, mail, parked

FENCE = resource_keys(RESOURCE)[0]
LOST = f"{resource_keys(RESOURCE)[6]}lost"


async def forget(store: FenceStore) -> Epoch | Refused:
    return await reset(store, RESOURCE, note="a test ran away", by="operator")


async def test_a_resource_without_a_larger_epoch_is_let_begin_anew(store: FenceStore) -> None:
    """Nobody could be granted a lease of it, and none but the last holder could write."""
    await ended(store, bare(HIGHEST), "applied")
    refused = await store.grant(RESOURCE, "B", OTHER_SECRET, ttl_ms=60_000, takeover=True, watch=False)
    assert isinstance(refused, Refused)
    assert refused.decision.name == "epochs-exhausted"

    assert await forget(store) == HIGHEST

    assert await store.look(RESOURCE) is None
    lease = await granted(store, "B", OTHER_SECRET)
    assert lease.epoch < HIGHEST
    assert name_of(await ask(store, leased(lease.epoch, OTHER_SECRET))) == "Admitted"


async def test_the_trail_tells_of_it_once(store: FenceStore) -> None:
    """Who, why, and which epoch; the repeat of a call whose answer was lost tells nothing more."""
    await ended(store, bare(42), "applied")

    assert (await forget(store), await forget(store)) == (42, 42)

    first, *_ = (await audit_views.events(store, Sought(resource=RESOURCE), None)).items
    assert (first.after, first.epoch, first.reason, first.by) == ("reset", "42", "a test ran away", "operator")
    assert first.number == 3


async def test_among_more_that_wait_than_are_looked_at_one_may_be_its_own(store: FenceStore, raw: Any) -> None:
    """No step looks at a hundred thousand approvals; what was not looked at counts."""
    await ended(store, bare(42), "applied")
    raw.zadd(in_state(shard_of(RESOURCE), "awaiting_approval"), {f"one-{at}": at for at in range(2001)})

    assert name_of(await forget(store)) == "wrong-state"
    raw.zremrangebyrank(in_state(shard_of(RESOURCE), "awaiting_approval"), 0, 0)
    assert await forget(store) == 42


async def test_a_lease_from_before_is_dead(store: FenceStore) -> None:
    """Its secret is forgotten with its epoch."""
    lease = await granted(store)
    await forget(store)

    assert name_of(await ask(store, leased(lease.epoch))) == "token-invalid"


Call = Callable[[FenceStore], Awaitable[Any]]
UNDER_WAY: dict[str, Call] = {
    "in flight": lambda store: admitted(store, bare(42)),
    "queued": lambda store: parked(store, mail("one")),
    "awaiting approval": lambda store: parked(store, mail("one", of=APPROVED)),
}


@pytest.mark.parametrize("begin", UNDER_WAY)
async def test_what_is_under_way_keeps_its_epoch(begin: str, store: FenceStore, raw: Any) -> None:
    """A newer write has to wait for it, and it has to be told from an older one."""
    await UNDER_WAY[begin](store)
    before = raw.hgetall(FENCE)

    refused = await forget(store)

    assert isinstance(refused, Refused)
    assert refused.decision is WRONG_STATE
    assert raw.hgetall(FENCE) == before


async def test_what_is_not_known_cannot_be_forgotten(store: FenceStore, raw: Any) -> None:
    """A slip in a name; no record is made of it."""
    refused = await forget(store)

    assert isinstance(refused, Refused)
    assert refused.decision is NO_SUCH_RESOURCE
    assert raw.keys() == []


async def test_nothing_is_forgotten_while_a_loss_is_open(store: FenceStore, raw: Any) -> None:
    """Which epoch is the newest is not known then."""
    await ended(store, bare(42), "applied")
    raw.set(LOST, "43 open")

    refused = await forget(store)

    assert isinstance(refused, Refused)
    assert refused.decision is STORE_REGRESSED


async def test_what_else_is_known_of_the_resource_stays(store: FenceStore, raw: Any) -> None:
    """The count of revisions, a pause, the unknown write that holds it."""
    await ended(store, bare(42), "applied")
    raw.hset(FENCE, mapping={"n": 7, "p": "{}", "u": "one "})

    await forget(store)

    kept = raw.hgetall(FENCE)
    assert sorted(kept) == [b"n", b"p", b"r", b"u", b"v"]
    assert kept[b"r"] == b"42"


async def after_a_write(store: FenceStore) -> str:
    return name_of(await ask(store, bare(6)))


async def after_a_stale_one(store: FenceStore) -> str:
    return name_of(await ask(store, bare(4)))


async def after_a_look(store: FenceStore) -> str:
    return name_of(await store.peek(bare(6)))


async def after_an_epoch(store: FenceStore) -> str:
    return name_of(await store.register(RESOURCE, Epoch(6), "A", watch=False))


async def after_an_advance(store: FenceStore) -> str:
    return str(await store.advance(RESOURCE, None, "request") < Epoch(HIGHEST))


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        (after_a_write, "Admitted"),
        (after_a_stale_one, "stale-epoch"),
        (after_a_look, "NoneType"),
        (after_an_epoch, "int"),
        (after_an_advance, "True"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
async def test_a_gateway_that_remembers_it_misses_nothing(
    calls: Callable[[FenceStore], Awaitable[str]], told: str, store: FenceStore, store_url: str
) -> None:
    """It was another one that an operator told."""
    async with remembering(store_url) as one:
        await ended(one.store, bare(HIGHEST), "applied")
        await forget(store)
        await ended(store, bare(5), "applied")

        assert await calls(one.store) == told
        assert one.told == []


async def test_a_result_that_comes_late_does_not_bring_it_back(store: FenceStore, raw: Any) -> None:
    """Its ticket was swept before; what is proved of its intent counts all the same."""
    late = await admitted(store, keyed(bare(HIGHEST)))
    await store.settle(late, "unknown", "swept", None)
    await forget(store)

    assert (await settled(store, late, "applied")).outcome == "applied"
    assert raw.hget(FENCE, "e") is None
    assert name_of(await ask(store, keyed(bare(6)))) == "Replayed"


async def test_taking_back_what_was_done_before_does_not_bring_it_back(store: FenceStore, raw: Any) -> None:
    """It is sent under the epoch that its intent had."""
    first = await applied(store)
    await forget(store)

    await settled(store, await begun(store, first), "applied")

    assert raw.hget(FENCE, "e") is None
