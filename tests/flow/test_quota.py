"""Quotas: asked before the fence, and never in the way of whoever has none."""

import pytest

from gateway.core.decision import QUOTA_EXCEEDED, STORE_UNAVAILABLE, Refused
from gateway.core.faults import StoreUnavailable
from gateway.core.quota import Counted, Quota, Spending
from gateway.flow.quota import Quotas
from gateway.flow.tasks import Tasks
from tests.playbook.script import Transcript
from tests.playbook.store import ScriptedQuotas

ADA = Quota("ada", leases=1)
EXCEEDED = Refused(QUOTA_EXCEEDED, "d")


class Away(ScriptedQuotas):
    """A store that is away."""

    async def hold(self, quota: Quota, lease: bytes, until_ms: int, *, instead: bytes | None) -> None:
        raise StoreUnavailable("away")

    async def free(self, quota: Quota, lease: bytes) -> None:
        raise StoreUnavailable("away")


async def test_what_is_too_much_is_refused() -> None:
    """In the store's words."""
    assert await Quotas(ScriptedQuotas(Transcript(), EXCEEDED), Tasks()).spend(ADA, Spending(write=True)) is EXCEEDED


async def test_a_store_that_is_away_refuses() -> None:
    """Nobody knows then how much is left."""
    quotas = Quotas(ScriptedQuotas(Transcript(), StoreUnavailable("away")), Tasks())

    refused = await quotas.spend(ADA, Spending(write=True))

    assert refused is not None
    assert refused.decision is STORE_UNAVAILABLE


async def test_a_store_that_is_away_ends_no_lease() -> None:
    """What was renewed, released or taken over is: only the count is late."""
    quotas = Quotas(Away(Transcript()), Tasks())

    await quotas.hold(ADA, b"l", 5)
    await quotas.free(ADA, b"l")
    await quotas.free_overtaken(Counted("bob", b"l"))


@pytest.mark.parametrize("quota", [None, Quota("bob", writes_per_minute=1)], ids=["no quota", "a quota of writes"])
async def test_who_has_no_quota_of_leases_is_asked_nothing(quota: Quota | None) -> None:
    """The store hears of neither renewal nor release."""
    said, tasks = Transcript(), Tasks()
    quotas = Quotas(ScriptedQuotas(said), tasks)

    await quotas.hold(quota, b"l", 5)
    await quotas.free(quota, b"l")
    quotas.free_later(quota, b"l")
    await tasks.drain(1.0)

    assert said == []
    assert not await quotas.holds(quota, b"l")
    assert await quotas.spend(None, Spending(write=True)) is None
