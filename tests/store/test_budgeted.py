"""The way of a write that costs something: what is taken, and what is given back where a step of it fails."""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.budget import Budget
from gateway.core.decision import UNAUTHENTICATED, Refused
from gateway.core.faults import PoliciesChanged, StoreUnavailable
from gateway.core.write import AdmitReply, Admitted, TicketId, Waiting, Write
from gateway.store.answer import Answer
from gateway.store.fence import FenceStore
from gateway.store.keys import budget_keys, pending_reservations
from gateway.store.script import Script
from tests.store.fences import HELD, RETRIED, admitted, ask, bare, keyed, name_of, opened, settled
from tests.store.parked import QUEUED, REQUEST

BUDGETS = (Budget("tenant", 1000, count=2),)
OF, AGAIN = replace(HELD, budgets=BUDGETS), replace(RETRIED, budgets=BUDGETS)
TAG = budget_keys(OF.upstream.name, OF.name)
PENDING = pending_reservations(OF.upstream.name, OF.name)


def costing(epoch: int = 1, key: str | None = None, says: bytes = b"this", of: Any = OF) -> Write:
    write = bare(epoch, of=of)
    return replace(write if key is None else keyed(write, says=says, digest=f"{key:-<22}"), costs=(0,))


def used(raw: Any) -> int:
    return sum(int(raw.zcard(key)) for key in raw.keys(f"{TAG}b:*"))


async def test_only_what_is_admitted_takes_something(store: FenceStore, raw: Any) -> None:
    """What waits, is refused or is answered from a record takes nothing, and is told what it would be told anyway."""
    first = await admitted(store, costing(2, "one"))
    waiting = await ask(store, costing(2, "two"))
    stale = await ask(store, costing(1, "two"))
    again = await ask(store, costing(2, "one"))

    assert (type(waiting), name_of(stale), name_of(again)) == (Waiting, "stale-epoch", "intent-in-progress")
    assert used(raw) == 1
    assert raw.zcard(PENDING) == 1
    await settled(store, first, "applied")
    assert name_of(await ask(store, costing(2, "one"))) == "Replayed"
    assert name_of(await ask(store, costing(2, "one", b"that"))) == "intent-mismatch"
    assert used(raw) == 1 and raw.zcard(PENDING) == 0, "what was applied is not asked about"


async def test_a_key_is_paid_again_once_its_record_is_gone(store: FenceStore, raw: Any) -> None:
    """It is another action then, which nothing holds back but the budget."""
    for _ in range(2):
        one = await admitted(store, costing(key="one"))
        await settled(store, one, "applied")
        raw.delete(*raw.keys(f"*:i:{one.intent}"))

    assert used(raw) == 2
    assert name_of(await ask(store, costing(key="one"))) == "quota-exceeded"


async def test_what_is_settled_says_what_is_kept(store: FenceStore, raw: Any) -> None:
    """Not applied: given back. Unknown: kept, and asked about; proved later, it is what it is then."""
    one = await admitted(store, costing(key="one"))
    await settled(store, one, "unknown")
    assert used(raw) == 1 and raw.zcard(PENDING) == 1
    await settled(store, one, "not_applied")
    assert used(raw) == 0 and raw.zcard(PENDING) == 0
    assert raw.keys(f"{TAG}r:*") == []


async def test_a_further_attempt_is_the_same_action(store: FenceStore, raw: Any) -> None:
    """The upstream itself refuses the second: one effect, and one place in the budget, also where none is left."""
    one = await admitted(store, costing(key="one", of=AGAIN))
    await settled(store, one, "unknown")
    await settled(store, await admitted(store, costing(key="two", of=AGAIN)), "applied")

    two = await admitted(store, costing(key="one", of=AGAIN))
    assert used(raw) == 2
    await settled(store, two, "not_applied")
    assert used(raw) == 2, "a refusal of this attempt proves nothing of the one before"


def lose(store: FenceStore, script: str, patch: pytest.MonkeyPatch) -> None:
    """The answer to one call never comes, although the store has run it."""
    run = store.run
    lost: list[Script] = []

    async def losing(asked: Script, keys: Sequence[str], *arguments: str | bytes) -> Answer:
        answer = await run(asked, keys, *arguments)
        if asked.name == script and not lost:
            lost.append(asked)
            raise StoreUnavailable("lost")
        return answer

    patch.setattr(store, "run", losing)


@pytest.mark.parametrize("key", [None, "one"], ids=["without a key", "an intent"])
@pytest.mark.parametrize("lost", ["reserve", "admit"])
async def test_an_admission_that_is_abandoned_is_given_back(
    store: FenceStore, raw: Any, monkeypatch: pytest.MonkeyPatch, lost: str, key: str | None
) -> None:
    """Nothing was sent under it, whatever the store has done."""
    lose(store, lost, monkeypatch)
    ticket = store.new_ticket(costing().resource)
    with pytest.raises(StoreUnavailable):
        await store.admit(costing(key=key), ticket, ttl_s=30, queued=False, behind=0)
    await store.abandon(costing(key=key), ticket)

    assert used(raw) == 0
    assert isinstance(await ask(store, costing(key=key)), Admitted)


async def test_one_action_through_two_gateways_is_paid_once(store_url: str, raw: Any) -> None:
    """Both ask at one instant; the one that is not admitted gives back nothing of the other's."""
    async with opened(store_url) as one, opened(store_url) as two:
        for at in range(20):
            key = f"k{at}"
            replies: list[AdmitReply] = await asyncio.gather(
                *(ask(store, costing(key=key)) for store in (one, two, one, two))
            )
            [won] = [reply for reply in replies if isinstance(reply, Admitted)]
            assert used(raw) == 1
            others = {name_of(reply) for reply in replies if reply is not won}
            assert others <= {"intent-in-progress", "quota-exceeded"}
            await settled(one, won, "not_applied")
            assert used(raw) == 0


async def test_the_same_ticket_asked_twice_is_paid_once(store: FenceStore, raw: Any) -> None:
    """The call was repeated because its answer was lost."""
    ticket: TicketId = store.new_ticket(costing().resource)
    replies = [await store.admit(costing(key="one"), ticket, ttl_s=30, queued=False, behind=0) for _ in range(2)]

    assert isinstance(replies[0], Admitted)
    assert replies[1] == replies[0] and used(raw) == 1


@pytest.mark.parametrize("raises", [True, False], ids=["it is judged anew", "it is refused"])
async def test_what_is_not_taken_after_all_takes_nothing(store: FenceStore, raw: Any, raises: bool) -> None:
    """The last look comes behind the reservation."""

    async def look() -> Refused:
        assert used(raw) == 1
        if raises:
            raise PoliciesChanged
        return Refused(UNAUTHENTICATED, "a key of nobody")

    later = costing(key="one", of=replace(QUEUED, budgets=BUDGETS))
    with contextlib.suppress(PoliciesChanged):
        assert name_of(await store.park(later, REQUEST, look)) == "unauthenticated"

    assert used(raw) == 0 and raw.zcard(PENDING) == 0
