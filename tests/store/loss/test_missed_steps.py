"""One step that a store acknowledged and has lost is missed by the gateway to which it was acknowledged, of each kind
whose loss would let something be done twice, or under an older epoch. What is there is not missed.
"""

from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.delivery import Conclusion, GivenUp
from gateway.core.epoch import HIGHEST, Epoch
from gateway.core.rule import Fence
from gateway.core.write import Extended
from gateway.store.compensations import Compensations
from gateway.store.fence import FenceStore
from gateway.store.parking import Decide, decide
from gateway.store.resets import reset
from tests.store.compensating import applied, begun
from tests.store.fences import RESOURCE, admitted, ask, bare, ended, everything, granted, keyed, name_of, rule
from tests.store.losing import remembering
from tests.store.lost import put_back
from tests.store.parked import APPROVED, THEN, DeliveriesOf, delivered, delivering, mail, parked, refused, taken
from tests.store.parked import begun as sent

# What is done before the last mark; it returns the step behind that.
Step = Callable[[], Coroutine[Any, Any, object]]
Story = Callable[[FenceStore], Coroutine[Any, Any, Step]]

STRICT = bare(42, of=rule(Fence(order="strict")))
NUMBERED = bare(42, of=rule(Fence(sequence="increasing")), sequence=3)
COUNTED = bare(42, of=rule(counts=True), if_revision=0)
SESSION = bare(42, of=replace(rule(), upgrade="websocket"))
LIFE_S = 5.0


async def taking_back(store: FenceStore) -> Step:
    first = await applied(store)
    return lambda: begun(store, first)


async def the_end_of_taking_back(store: FenceStore) -> Step:
    first = await applied(store)
    one = await begun(store, first)
    return lambda: Compensations(store).settle_of(first.id, one, "applied", "answered 200", None)


async def the_end_of_a_delivery(store: FenceStore) -> Step:
    await parked(store, mail("one"))
    queue = DeliveriesOf(store)
    one = await taken(queue)
    under_way = await sent(queue, mail("one"))

    async def end() -> None:
        await queue.end(one, under_way, Conclusion("not_applied", "answered 503", None, THEN))
        await queue.close()

    return end


async def a_denial(store: FenceStore) -> Step:
    record = await parked(store, mail("one", of=APPROVED))
    return lambda: decide(store, record, Decide("deny", "anna", "anna", "not this month"))


async def under_a_known_epoch(store: FenceStore) -> FenceStore:
    await store.register(RESOURCE, Epoch(42), "A", watch=False)
    return store


async def the_one_write_of_an_epoch(store: FenceStore) -> Step:
    await under_a_known_epoch(store)
    return lambda: ended(store, STRICT, "applied")


async def a_place_in_a_sequence(store: FenceStore) -> Step:
    await under_a_known_epoch(store)
    return lambda: ended(store, NUMBERED, "applied")


async def a_revision(store: FenceStore) -> Step:
    await under_a_known_epoch(store)
    return lambda: ended(store, COUNTED, "applied")


async def a_write_under_a_key(store: FenceStore) -> Step:
    await under_a_known_epoch(store)
    return lambda: ended(store, keyed(bare(42)), "applied")


async def an_unknown_write(store: FenceStore) -> Step:
    await under_a_known_epoch(store)
    return lambda: ended(store, bare(42), "unknown")


async def a_session(store: FenceStore) -> Step:
    await under_a_known_epoch(store)
    return lambda: admitted(store, SESSION, ttl_s=LIFE_S)


async def a_session_that_goes_on(store: FenceStore) -> Step:
    one = await admitted(store, SESSION, ttl_s=LIFE_S)

    async def extend() -> None:
        assert await store.extend(one, ttl_s=4 * LIFE_S) == Extended()

    return extend


async def an_epoch_that_waits(store: FenceStore) -> Step:
    await admitted(store, bare(42))
    return lambda: answered("Waiting", ask(store, bare(43, "B")))


async def an_epoch_of_a_replay(store: FenceStore) -> Step:
    await ended(store, keyed(bare(42)), "applied")
    return lambda: answered("Replayed", ask(store, keyed(bare(43, "B"))))


async def an_epoch_of_a_refusal(store: FenceStore) -> Step:
    await ended(store, keyed(bare(42)), "applied")
    return lambda: answered("intent-mismatch", ask(store, keyed(bare(43, "B"), says=b"something else")))


async def an_epoch_of_a_probe(store: FenceStore) -> Step:
    await under_a_known_epoch(store)
    write = bare(43, "B")
    return lambda: answered("Ready", store.would_admit(write, store.new_ticket(RESOURCE), queued=False, behind=0))


async def an_epoch_of_what_is_not_taken(store: FenceStore) -> Step:
    await parked(store, mail("one"))

    async def take() -> None:
        assert await refused(store, mail("one", 43, holder="B", says=b"something else")) == "intent-mismatch"

    return take


async def an_epoch_of_what_would_not_be_taken(store: FenceStore) -> Step:
    await parked(store, mail("one"))
    other = mail("one", 43, holder="B", says=b"something else")
    return lambda: answered("intent-mismatch", store.would_park(other))


async def a_reset(store: FenceStore) -> Step:
    await ended(store, bare(HIGHEST), "applied")
    return lambda: forgotten(store)


async def since_a_reset(store: FenceStore) -> FenceStore:
    await ended(store, bare(HIGHEST), "applied")
    await forgotten(store)
    await ended(store, bare(5), "applied")
    return store


async def an_epoch_since_a_reset(store: FenceStore) -> Step:
    await since_a_reset(store)
    return lambda: ended(store, bare(6, "B"), "applied")


async def a_lease_since_a_reset(store: FenceStore) -> Step:
    await since_a_reset(store)
    return lambda: granted(store, takeover=True)


async def a_place_since_a_reset(store: FenceStore) -> Step:
    await since_a_reset(store)
    return lambda: ended(store, replace(NUMBERED, epoch=Epoch(5)), "applied")


async def what_was_taken_under_a_key_that_failed(store: FenceStore) -> Step:
    async with delivering(store) as queue:
        await parked(store, mail("one"))
        await delivered(queue, mail("one"), "not_applied", GivenUp())
    return lambda: parked(store, mail("one", says=b"corrected"))


async def forgotten(store: FenceStore) -> None:
    assert await reset(store, RESOURCE, note="ran to the end", by="operator") == HIGHEST


async def answered(name: str, asked: Coroutine[Any, Any, object]) -> None:
    assert name_of(await asked) == name


STORIES: tuple[Story, ...] = (
    taking_back,
    the_end_of_taking_back,
    the_end_of_a_delivery,
    a_denial,
    the_one_write_of_an_epoch,
    a_place_in_a_sequence,
    a_revision,
    a_write_under_a_key,
    an_unknown_write,
    a_session,
    a_session_that_goes_on,
    an_epoch_that_waits,
    an_epoch_of_a_replay,
    an_epoch_of_a_refusal,
    an_epoch_of_a_probe,
    an_epoch_of_what_is_not_taken,
    an_epoch_of_what_would_not_be_taken,
    a_reset,
    an_epoch_since_a_reset,
    a_lease_since_a_reset,
    a_place_since_a_reset,
    what_was_taken_under_a_key_that_failed,
)


@pytest.mark.parametrize("is_lost", [True, False], ids=["lost", "there"])
@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.__name__)
async def test_a_step_behind_the_last_mark_is_missed_if_it_is_lost(
    story: Story, is_lost: bool, store_url: str, raw: Any
) -> None:
    """When the gateway connects again, before anything else is asked; from then on the loss is told of."""
    async with remembering(store_url) as one:
        step = await story(one.store)
        await one.mark_no_more()
        await one.mark()
        kept = everything(raw)
        await step()

        if is_lost:
            put_back(raw, kept)
        raw.client_kill_filter(_type="normal", skipme=True)
        await one.store.look(RESOURCE)

        assert [why.partition(" of ")[0] for why in one.told] == ["it has forgotten 1"] * is_lost


async def test_what_an_operator_has_forgotten_is_not_missed(store_url: str, raw: Any) -> None:
    """After a reset the epochs of a resource are gone by right, and so are the places under them."""
    async with remembering(store_url) as one:
        await one.mark_no_more()
        await one.mark()
        for write in (STRICT, NUMBERED):
            await ended(one.store, replace(write, epoch=Epoch(write.epoch + bool(write.sequence))), "applied")
        await reset(one.store, RESOURCE, note="ran to the end", by="operator")
        raw.client_kill_filter(_type="normal", skipme=True)
        await one.store.look(RESOURCE)

        assert one.told == []
