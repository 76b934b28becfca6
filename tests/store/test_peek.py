"""Peeking: what admission would refuse whatever the body says; but for the trail, without a trace."""

from typing import Any

import pytest

from gateway.core.epoch import Epoch
from gateway.core.rule import Fence
from gateway.core.write import Write
from gateway.store.fence import FenceStore
from gateway.store.intents import pause
from gateway.store.keys import resource_keys
from tests.store.fences import (
    ANSWER,
    OTHER_SECRET,
    RESOURCE,
    SECRET,
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
)


def _judged_by(raw: Any) -> dict[bytes, bytes]:
    told = ("a", "n", "refused")
    return {key: dump for key, dump in everything(raw).items() if key.decode().rpartition(":")[2] not in told}


async def peeked(store: FenceStore, raw: Any, write: Write) -> str | None:
    """The refusal's name; whatever it is, all that writes are judged by is as it was."""
    before = _judged_by(raw)
    refused = await store.peek(write)
    assert _judged_by(raw) == before
    return refused and refused.decision.name


@pytest.mark.parametrize(
    ("epoch", "holder", "name"),
    [
        pytest.param(41, "A", "stale-epoch", id="an older epoch"),
        pytest.param(42, "A", None, id="the highest"),
        pytest.param(42, "B", "holder-mismatch", id="the highest, another holder"),
        pytest.param(43, "B", None, id="a newer one, which is not recorded"),
    ],
)
async def test_an_epoch_is_judged_and_not_recorded(
    store: FenceStore, raw: Any, epoch: int, holder: str, name: str | None
) -> None:
    """Only admission raises the highest epoch: the body may yet be refused."""
    await ended(store, bare(42), "applied")

    assert await peeked(store, raw, bare(epoch, holder)) == name


@pytest.mark.parametrize(
    ("step", "secret", "holder", "name"),
    [
        pytest.param(0, SECRET, None, None, id="its own"),
        pytest.param(0, SECRET, "B", "holder-mismatch", id="another holder"),
        pytest.param(0, OTHER_SECRET, None, "token-invalid", id="another secret"),
        pytest.param(1, SECRET, None, "token-invalid", id="an epoch that was never granted"),
        pytest.param(-1, SECRET, None, "stale-epoch", id="an older epoch"),
    ],
)
async def test_a_lease_token_is_judged(
    store: FenceStore, raw: Any, step: int, secret: bytes, holder: str | None, name: str | None
) -> None:
    """Epoch, secret and holder."""
    lease = await granted(store)

    assert await peeked(store, raw, leased(Epoch(lease.epoch + step), secret, holder)) == name


async def test_an_expired_lease_and_a_pause_are_seen(store: FenceStore, raw: Any) -> None:
    """A pause comes before all else."""
    lease = await granted(store)
    raw.hset(resource_keys(RESOURCE)[0], "x", 1)
    assert await peeked(store, raw, leased(lease.epoch)) == "lease-expired"

    await pause(store, RESOURCE, id="p", reason="", by="operator")
    assert await peeked(store, raw, leased(lease.epoch)) == "paused"


async def test_what_depends_on_the_body_or_may_pass_is_left_to_admission(store: FenceStore, raw: Any) -> None:
    """An intent, a sequence, another write in flight, and those who wait for it."""
    of = rule(Fence(sequence="contiguous"))
    await ended(store, keyed(bare(42, of=of, sequence=1)), "applied", ANSWER)
    await admitted(store, bare(42, of=of, sequence=2))
    assert name_of(await ask(store, bare(42, of=of, sequence=3))) == "Waiting"

    for write in (keyed(bare(42)), keyed(bare(42), says=b"another thing"), bare(42, of=of, sequence=9), bare(43, "B")):
        assert await peeked(store, raw, write) is None


async def test_nothing_is_known_of_a_resource_that_nobody_wrote(store: FenceStore, raw: Any) -> None:
    """A lease's token was never granted there; any bare epoch may be the first."""
    assert await peeked(store, raw, bare(1)) is None
    assert await peeked(store, raw, leased(1)) == "token-invalid"
    assert everything(raw) == {}


async def test_a_peek_tells_nothing_of_an_intent(store: FenceStore) -> None:
    """It is asked before the body is read: nobody knows yet what the request says."""
    await ended(store, keyed(bare(42)), "applied", ANSWER)

    refused = await store.peek(keyed(bare(41)))

    assert refused is not None
    assert (refused.facts.intent, refused.facts.highest_epoch) == (None, 42)
