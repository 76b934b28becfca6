"""The admit script, rule by rule, against the real server."""

from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.epoch import HIGHEST
from gateway.core.rule import Fence
from gateway.core.write import Admitted, Waiting, Write
from gateway.store.fence import FenceStore
from gateway.store.keys import intent_record
from tests.store.fences import (
    OTHER_SECRET,
    RESOURCE,
    SECRET,
    admitted,
    ask,
    bare,
    keyed,
    leased,
    name_of,
    opened,
    rule,
)
from tests.store.overdue import make_overdue

STRICT = rule(Fence(order="strict"))
PARALLEL = rule(Fence(concurrency="parallel"))


@pytest.mark.parametrize(
    ("seen", "asked", "word"),
    [
        (42, 41, "stale-epoch"),
        (42, 42, None),
        (42, 43, None),
        (9007199254740993, 9007199254740992, "stale-epoch"),
        (9007199254740993, 9007199254740994, None),
        (99, 100, None),
        (100, 99, "stale-epoch"),
        (HIGHEST - 1, HIGHEST, None),
        (HIGHEST, HIGHEST - 1, "stale-epoch"),
        (0, 0, None),
    ],
)
async def test_epochs_are_compared_exactly(store_url: str, seen: int, asked: int, word: str | None) -> None:
    """Over the whole 64-bit range, where doubles would lose digits and text would sort 99 after 100."""
    async with opened(store_url) as store:
        await store.settle(await admitted(store, bare(seen)), "applied", "", None)
        reply = await ask(store, bare(asked))

        if word is None:
            assert isinstance(reply, Admitted)
        else:
            assert isinstance(reply, Refused)
            assert (reply.decision.name, reply.facts.highest_epoch) == (word, seen)


async def test_an_epoch_belongs_to_the_holder_who_came_first_with_it(store_url: str) -> None:
    """Under header authority another holder of the same epoch is refused."""
    async with opened(store_url) as store:
        await store.settle(await admitted(store, bare(42, "A")), "applied", "", None)
        reply = await ask(store, bare(42, "B"))

        assert isinstance(reply, Refused) and reply.decision.name == "holder-mismatch"


@pytest.mark.parametrize(
    ("epoch_step", "secret", "holder", "word"),
    [
        (0, SECRET, None, None),
        (0, SECRET, "A", None),
        (0, SECRET, "B", "holder-mismatch"),
        (0, OTHER_SECRET, None, "token-invalid"),
        (1, SECRET, None, "token-invalid"),
        (-1, SECRET, None, "stale-epoch"),
        (-1, OTHER_SECRET, None, "stale-epoch"),
    ],
)
async def test_a_lease_token_proves_epoch_and_holder(
    store_url: str, epoch_step: int, secret: bytes, holder: str | None, word: str | None
) -> None:
    """A stale epoch is stale whatever its secret; an epoch that was never granted is no token."""
    async with opened(store_url) as store:
        lease = await store.grant(RESOURCE, "A", SECRET, ttl_ms=60_000, takeover=False, watch=False)
        assert not isinstance(lease, Refused)
        reply = await ask(store, leased(lease.epoch + epoch_step, secret, holder))

        assert (reply.decision.name if isinstance(reply, Refused) else None) == word


async def test_a_newer_epoch_is_recorded_even_when_its_write_has_to_wait(store_url: str) -> None:
    """42 waits for 41 in flight; from then on 41 is stale."""
    async with opened(store_url) as store:
        first = await admitted(store, bare(41))
        waiting = await ask(store, bare(42, "B"))
        late = await ask(store, bare(41))
        await store.settle(first, "applied", "", None)

        assert isinstance(waiting, Waiting) and waiting.why == "older"
        assert isinstance(late, Refused) and late.decision.name == "stale-epoch"
        assert isinstance(await ask(store, bare(42, "B"), queued=True), Admitted)


async def test_one_write_of_an_epoch_at_a_time_under_serial(store_url: str) -> None:
    """Under `serial` the second waits; under `parallel` it does not."""
    async with opened(store_url) as store:
        await admitted(store, bare(42))

        busy = await ask(store, bare(42))
        assert isinstance(busy, Waiting) and busy.why == "busy"
        assert isinstance(await ask(store, bare(42, of=PARALLEL)), Admitted)


async def test_an_epoch_makes_one_write_under_strict(store_url: str) -> None:
    """A write that is proved not applied gives the epoch back; an unknown one does not."""
    async with opened(store_url) as store:
        await store.settle(await admitted(store, bare(42, of=STRICT)), "not_applied", "", None)
        await store.settle(await admitted(store, bare(42, of=STRICT)), "unknown", "", None)
        again = await ask(store, bare(42, of=STRICT))

        assert isinstance(again, Refused) and again.decision.name == "stale-epoch"


@pytest.mark.parametrize(
    ("kind", "places", "words"),
    [
        ("increasing", [5, 9, 9, 8, 10], [None, None, "out-of-sequence", "out-of-sequence", None]),
        ("contiguous", [2, 1, 2, 2, 4, 3], ["out-of-sequence", None, None, "out-of-sequence", "out-of-sequence", None]),
        ("increasing", [HIGHEST - 1, HIGHEST, 1], [None, None, "out-of-sequence"]),
    ],
)
async def test_sequence(store_url: str, kind: str, places: list[int], words: list[str | None]) -> None:
    """`increasing` wants each larger than the last, `contiguous` wants 1, 2, 3 … from 1."""
    of = rule(Fence(sequence=kind))
    async with opened(store_url) as store:
        told: list[str | None] = []
        for place in places:
            reply = await ask(store, bare(42, of=of, sequence=place))
            told.append(reply.decision.name if isinstance(reply, Refused) else None)
            if isinstance(reply, Admitted):
                await store.settle(reply, "applied", "", None)

        assert told == words


async def test_a_place_in_the_sequence_is_given_back_when_nothing_was_applied(store_url: str) -> None:
    """And a new epoch begins again at 1."""
    of = rule(Fence(sequence="contiguous"))
    async with opened(store_url) as store:
        await store.settle(await admitted(store, bare(42, of=of, sequence=1)), "applied", "", None)
        await store.settle(await admitted(store, bare(42, of=of, sequence=2)), "not_applied", "", None)
        await store.settle(await admitted(store, bare(42, of=of, sequence=2)), "unknown", "", None)

        assert isinstance(await ask(store, bare(42, of=of, sequence=2)), Refused)
        assert isinstance(await ask(store, bare(43, of=of, sequence=1)), Admitted)


async def test_revisions_count_what_may_have_been_applied(store_url: str) -> None:
    """Applied and unknown writes count, refused and not applied ones do not; a write based on another is refused."""
    of = rule(counts=True)
    async with opened(store_url) as store:
        for outcome in ("applied", "not_applied", "unknown"):
            await store.settle(await admitted(store, bare(42, of=of)), outcome, "", None)
        mismatch = await ask(store, bare(42, of=of, if_revision=1))
        fits = await ask(store, bare(42, of=of, if_revision=2))

        assert await store.revision(RESOURCE) == 2
        assert isinstance(mismatch, Refused)
        assert (mismatch.decision.name, mismatch.facts.revision) == ("revision-mismatch", 2)
        assert isinstance(fits, Admitted) and fits.revision == 2


async def test_an_overdue_write_counts_before_the_revision_is_judged(store_url: str, raw: Any) -> None:
    """It may have been applied: whoever based a change on the count before it is refused."""
    of = rule(counts=True)
    async with opened(store_url) as store:
        dead = await admitted(store, bare(42, of=of))
        make_overdue(raw, RESOURCE, dead.ticket)
        mismatch = await ask(store, bare(42, of=of, if_revision=0))

        assert isinstance(mismatch, Refused)
        assert (mismatch.decision.name, mismatch.facts.revision) == ("revision-mismatch", 1)
        assert isinstance(await ask(store, bare(42, of=of, if_revision=1)), Admitted)


@pytest.mark.parametrize(
    ("write", "name"),
    [
        pytest.param(bare(43, "B", rule(Fence(sequence="contiguous")), sequence=2), "out-of-sequence", id="sequence"),
        pytest.param(bare(43, "B", rule(counts=True), if_revision=7), "revision-mismatch", id="revision"),
    ],
)
async def test_a_newer_epoch_is_recorded_even_when_its_write_is_refused(
    store_url: str, write: Write, name: str
) -> None:
    """From then on the older one is stale."""
    async with opened(store_url) as store:
        await store.settle(await admitted(store, bare(42)), "applied", "", None)

        assert name_of(await ask(store, write)) == name
        assert name_of(await ask(store, bare(42))) == "stale-epoch"


async def test_a_repeat_is_not_sent_where_only_the_overdue_ticket_tells_of_it(store: FenceStore, raw: Any) -> None:
    """The ticket names its intent, which may have taken effect: it is unknown, also where its record was lost."""
    write = keyed(bare(42))
    one = await admitted(store, write)
    make_overdue(raw, RESOURCE, one.ticket)
    assert raw.delete(intent_record(one.intent)) == 1

    assert name_of(await ask(store, write)) == "intent-mismatch"
    record = await store.recall(one.intent)
    assert record is not None and record.state == "unknown"
