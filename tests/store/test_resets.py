"""An operator forgets the epoch of a resource whose epochs have run out, and nothing that was under way is lost."""

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import NO_SUCH_RESOURCE, STORE_REGRESSED, WRONG_STATE, Refused
from gateway.core.delivery import GivenUp
from gateway.core.epoch import HIGHEST, Epoch
from gateway.core.rule import Fence
from gateway.store.answer import text
from gateway.store.fence import FenceStore
from gateway.store.keys import in_state, resource_keys, shard_of
from gateway.store.parking import retry
from gateway.store.resets import RESET
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
    everything,
    granted,
    keyed,
    leased,
    name_of,
    rule,
    settled,
)
from tests.store.losing import remembering
from tests.store.lost import put_back
from tests.store.parked import APPROVED, begin, delivered, delivering, id_of, mail, parked, taken
from tests.store.resetting import FENCE, LOST, forget


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


async def test_a_reset_that_is_executed_twice_forgets_once(store: FenceStore) -> None:
    """G1: what came in between is not forgotten, however late the second is."""
    await ended(store, bare(42), "applied")
    about = resource_keys(RESOURCE), RESOURCE, "a test ran away", "operator", "0", "", "0", ""
    first = await store.run(RESET, *about)
    store.began(RESOURCE, int(text(first.rest[1])))
    await ended(store, bare(3, "B"), "applied")
    await ended(store, bare(5, "C"), "applied")

    late = await store.run(RESET, *about)

    assert (late.word, late.rest) == ("reset", [b"42", first.rest[1]])
    assert name_of(await ask(store, bare(3, "B"))) == "stale-epoch"
    assert await forget(store) == 5


async def test_a_call_that_names_the_epoch_forgets_no_other(store: FenceStore) -> None:
    """However late it comes, its repeat is answered alike; and once others have written it does nothing."""
    await ended(store, bare(42), "applied")
    first = [await forget(store, Epoch(42)) for _ in range(2)]
    await ended(store, bare(5, "C"), "applied")

    late = await forget(store, Epoch(42))

    assert first == [42, 42]
    assert isinstance(late, Refused) and "5 is its highest epoch by now" in late.detail
    assert name_of(await ask(store, bare(3, "B"))) == "stale-epoch"


async def test_the_trail_tells_of_it_once(store: FenceStore, raw: Any) -> None:
    """Who, why, and which epoch; the repeat of a call whose answer was lost tells nothing more, and begins no era."""
    await ended(store, bare(42), "applied")

    assert await forget(store) == 42
    era = raw.hget(FENCE, "b")
    assert (await forget(store), raw.hget(FENCE, "b")) == (42, era)

    first, *_ = (await audit_views.events(store, Sought(resource=RESOURCE), None)).items
    assert (first.after, first.epoch, first.reason, first.by) == ("reset", "42", "a test ran away", "operator")
    assert first.number == 3


AWAITING = in_state(shard_of(RESOURCE), "awaiting_approval")
OTHERS = {
    "before it": {f"one-{at}": at for at in range(2500)},
    "behind it": {f"one-{at}": 9_000_000_000_000 + at for at in range(2500)},
    "in one instant": dict.fromkeys((f"one-{at}" for at in range(2500)), 7),
}


@pytest.mark.parametrize("others", OTHERS)
async def test_what_waits_of_other_resources_keeps_nobody_from_it(others: str, store: FenceStore, raw: Any) -> None:
    """No step looks at a hundred thousand approvals: there are as many steps as it takes, and the count is exact."""
    await parked(store, mail("one", of=APPROVED))
    raw.zadd(AWAITING, OTHERS[others])

    refused = await forget(store)
    assert isinstance(refused, Refused) and "0 writes of the resource are in flight, and 1 wait" in refused.detail

    raw.zrem(AWAITING, id_of(mail("one")))
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
    assert sorted(kept) == [b"b", b"n", b"p", b"r", b"u", b"v"]
    assert kept[b"r"] == b"42"


async def after_a_write(store: FenceStore) -> str:
    return name_of(await ask(store, bare(6)))


async def after_a_stale_one(store: FenceStore) -> str:
    return name_of(await ask(store, bare(4)))


async def after_a_look(store: FenceStore) -> str:
    return name_of(await store.peek(bare(6)))


async def after_an_epoch(store: FenceStore) -> str:
    return name_of(await store.register(RESOURCE, Epoch(6), "A", watch=False))


async def after_a_lease(store: FenceStore) -> str:
    return str((await granted(store, takeover=True)).epoch < Epoch(HIGHEST))


async def after_what_is_queued(store: FenceStore) -> str:
    await parked(store, mail("one", 6))
    async with delivering(store) as queue:
        await taken(queue)
        return name_of(await begin(queue, mail("one", 6)))


async def after_an_advance(store: FenceStore) -> str:
    return str(await store.advance(RESOURCE, None, "request") < Epoch(HIGHEST))


@pytest.mark.parametrize(
    ("calls", "told"),
    [
        (after_a_write, "Admitted"),
        (after_a_stale_one, "stale-epoch"),
        (after_a_look, "NoneType"),
        (after_an_epoch, "int"),
        (after_a_lease, "True"),
        (after_what_is_queued, "Admitted"),
        (after_an_advance, "True"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
@pytest.mark.parametrize("times", [1, 2], ids=["once", "twice"])
async def test_a_gateway_that_remembers_it_misses_nothing(
    times: int, calls: Callable[[FenceStore], Awaitable[str]], told: str, store: FenceStore, store_url: str
) -> None:
    """It was another one that an operator told, and this one may have been stopped meanwhile."""
    async with remembering(store_url) as one:
        await ended(one.store, bare(HIGHEST), "applied")
        for _ in range(times):
            await forget(store)
            await ended(store, bare(5), "applied")

        assert await calls(one.store) == told
        assert one.told == []


async def test_a_gateway_that_remembers_it_delivers_what_others_have_taken_since(
    store: FenceStore, store_url: str
) -> None:
    """Nothing that it has seen rules that."""
    async with remembering(store_url) as one, delivering(one.store) as queue:
        await ended(one.store, bare(HIGHEST), "applied")
        await forget(store)
        await parked(store, mail("one", 6))

        await taken(queue)
        assert name_of(await begin(queue, mail("one", 6))) == "Admitted"


async def under_the_same(store: FenceStore) -> str:
    return name_of(await ask(store, bare(6)))


async def under_an_older(store: FenceStore) -> str:
    return name_of(await ask(store, bare(5)))


async def under_the_largest(store: FenceStore) -> str:
    return name_of(await ask(store, bare(HIGHEST)))


async def looking(store: FenceStore) -> str:
    return name_of(await store.peek(bare(5)))


async def registering(store: FenceStore) -> str:
    return name_of(await store.register(RESOURCE, Epoch(5), "A", watch=False))


async def leasing(store: FenceStore) -> str:
    return name_of(await store.grant(RESOURCE, "B", OTHER_SECRET, ttl_ms=60_000, takeover=True, watch=False))


LOSSES: dict[str, dict[str, object]] = {
    "the newest epoch": {"e": 5, "r": HIGHEST},
    "all epochs": {"r": HIGHEST},
    "the reset": {"e": HIGHEST, "b": None},
    "all of it": {"b": None},
}


@pytest.mark.parametrize("asked", [under_the_same, under_an_older, under_the_largest, looking, registering, leasing])
@pytest.mark.parametrize("loss", LOSSES)
async def test_an_epoch_that_was_seen_since_is_missed(
    loss: str, asked: Callable[[FenceStore], Awaitable[str]], store: FenceStore, store_url: str, raw: Any
) -> None:
    """G1: however large those were that an operator has forgotten before."""
    await ended(store, bare(HIGHEST), "applied")
    await forget(store)
    async with remembering(store_url) as one:
        await one.mark_no_more()
        await ended(one.store, bare(6), "applied")
        raw.hdel(FENCE, "e", "r", "h", "w", "m")
        for field, value in LOSSES[loss].items():
            raw.hdel(FENCE, field) if value is None else raw.hset(FENCE, field, str(value))
        before = raw.hgetall(FENCE)

        assert await asked(one.store) == "store-regressed"
        assert raw.hgetall(FENCE) == before
        assert one.incarnation.recent.doubted.is_set()


async def test_who_looks_for_no_loss_goes_by_what_the_record_says(store: FenceStore, raw: Any) -> None:
    """A reset that the store has lost is none then."""
    await ended(store, bare(HIGHEST), "applied")
    await forget(store)
    await ended(store, bare(6), "applied")
    raw.hdel(FENCE, "r", "b")

    assert name_of(await ask(store, bare(7))) == "Admitted"


async def test_a_result_of_an_epoch_since_then_brings_that_back(store: FenceStore, raw: Any) -> None:
    """A failover lost the epoch together with the ticket, not the reset before it."""
    await ended(store, bare(HIGHEST), "applied")
    await forget(store)
    await ended(store, bare(5), "applied")
    kept = everything(raw)
    late = await admitted(store, bare(6))
    put_back(raw, kept)

    await settled(store, late, "applied")

    assert raw.hget(FENCE, "e") == b"6"


async def test_a_result_that_comes_late_uses_no_epoch_of_the_same_number(store: FenceStore, raw: Any) -> None:
    """Numbers may begin anew with a reset: the one write of this epoch is still to be made."""
    late = await admitted(store, keyed(bare(1, of=rule(Fence(order="strict")))))
    await store.settle(late, "unknown", "swept", None)
    await forget(store)
    await store.register(RESOURCE, Epoch(1), "A", watch=False)

    await settled(store, replace(late, ticket=store.new_ticket(RESOURCE), attempt=2), "unknown")

    assert raw.hget(FENCE, "w") is None


async def test_an_era_is_larger_than_those_before_it(store: FenceStore, raw: Any) -> None:
    """Also where the clock was set back in between."""
    await ended(store, bare(42), "applied")
    raw.hset(FENCE, mapping={"r": 50, "b": 9_000_000_000_000_000})

    assert await forget(store) == 42
    assert raw.hmget(FENCE, "b", "r") == [b"9000000000000001", b"50"]


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


async def test_after_a_reset_what_failed_since_is_queued_again(store: FenceStore) -> None:
    """However large the epoch was that an operator has forgotten; but not once it is forgotten as well."""
    write = mail("one")
    await ended(store, bare(HIGHEST), "applied")
    assert await forget(store) == HIGHEST
    record = await parked(store, write)
    async with delivering(store) as queue:
        await delivered(queue, write, "not_applied", GivenUp())
        assert name_of(await retry(store, record, note="again", by="operator")) == "IntentRecord"
        await delivered(queue, write, "not_applied", GivenUp())
    assert await forget(store) == 42

    failed = await store.recall(record.id)
    assert failed is not None
    refused = await retry(store, failed, note="once more", by="operator")

    assert isinstance(refused, Refused) and "an operator has forgotten it" in refused.detail
