"""One effect per intent (G4): what a repeat is answered, by what is known of the attempts before it."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from gateway.core.decision import Refused
from gateway.core.intent import KeptAnswer
from gateway.core.outcome import Outcome
from gateway.core.rule import Fence, Rule
from gateway.core.write import Admitted, Replayed, Waiting, Write
from gateway.store.fence import FenceStore
from gateway.store.intents import pause
from tests.store.fences import (
    ANSWER,
    HELD,
    INTENT,
    OTHER_SECRET,
    RESOURCE,
    RETRIED,
    SECRET,
    TTL_S,
    admitted,
    ask,
    bare,
    ended,
    granted,
    keyed,
    leased,
    name_of,
    resolved,
    rule,
    settled,
    state_of,
    unknown_is,
)
from tests.store.overdue import make_overdue, make_sent_before

PARALLEL = Fence(concurrency="parallel")


def intent(of: Rule = HELD, epoch: int = 42) -> Write:
    return keyed(bare(epoch, of=of))


def told(reply: object) -> tuple[str, str | None]:
    """A refusal's name, and the intent's state if it says one."""
    assert isinstance(reply, Refused), reply
    assert (reply.facts.intent is None) == (reply.facts.intent_state is None)
    return reply.decision.name, reply.facts.intent_state


@pytest.mark.parametrize(
    ("outcome", "of", "name", "state"),
    [
        pytest.param("unknown", HELD, "outcome-unknown", "unknown", id="unknown is held"),
        pytest.param("unknown", unknown_is("query"), "outcome-unknown", "unknown", id="unknown is asked about"),
        pytest.param("unknown", RETRIED, "Admitted", "in_flight", id="unknown is retried under a native key"),
        pytest.param(
            "unknown",
            unknown_is("retry", native_s=0.0),
            "outcome-unknown",
            "unknown",
            id="unknown is held when the upstream has forgotten the key",
        ),
        pytest.param("not_applied", HELD, "Admitted", "in_flight", id="not applied frees the key"),
        pytest.param("not_applied", RETRIED, "Admitted", "in_flight", id="not applied frees the key under retry too"),
        pytest.param("applied", HELD, "Replayed", "applied", id="applied is replayed"),
        pytest.param("applied", RETRIED, "Replayed", "applied", id="applied is replayed under retry too"),
        pytest.param(None, HELD, "intent-in-progress", "in_flight", id="in flight is in progress"),
        pytest.param(None, RETRIED, "intent-in-progress", "in_flight", id="in flight is in progress under retry too"),
    ],
)
async def test_a_repeat_is_answered_by_the_state_of_its_intent(
    store: FenceStore, outcome: Outcome | None, of: Rule, name: str, state: str
) -> None:
    """Only what is proved not applied is sent again, or what the upstream itself refuses to execute twice."""
    one = await admitted(store, intent(of))
    if outcome is not None:
        await settled(store, one, outcome)

    reply = await ask(store, intent(of))

    assert name_of(reply) == name
    assert await state_of(store) == state
    if isinstance(reply, Refused):
        assert (reply.facts.intent, reply.facts.intent_state) == (INTENT, state)
    if isinstance(reply, Admitted):
        assert (reply.intent, reply.attempt, reply.in_doubt) == (INTENT, 2, outcome == "unknown")


@pytest.mark.parametrize(
    ("outcome", "name"),
    [
        pytest.param(None, "intent-mismatch", id="in flight"),
        pytest.param("applied", "intent-mismatch", id="applied"),
        pytest.param("unknown", "intent-mismatch", id="unknown"),
        pytest.param("not_applied", "Admitted", id="not applied: nothing was done under this key"),
    ],
)
async def test_another_request_under_the_same_key(store: FenceStore, outcome: Outcome | None, name: str) -> None:
    """It is refused, and not told what became of the first; nor is it sent under `retry`."""
    one = await admitted(store, intent(RETRIED))
    if outcome is not None:
        await settled(store, one, outcome)

    reply = await ask(store, replace(intent(RETRIED), intent=keyed(bare(42), says=b"another thing").intent))

    assert name_of(reply) == name
    if isinstance(reply, Refused):
        assert (reply.facts.intent, reply.facts.intent_state) == (None, None)


async def test_where_nothing_is_compared_any_request_is_the_same(store: FenceStore) -> None:
    """An empty fingerprint is equal to an empty one."""
    await ended(store, keyed(bare(42), says=b""), "applied", ANSWER)

    assert name_of(await ask(store, keyed(bare(42), says=b""))) == "Replayed"


@pytest.mark.parametrize(
    "kept",
    [
        pytest.param(ANSWER, id="binary, with one header twice"),
        pytest.param(KeptAnswer(204, (), b""), id="empty"),
        pytest.param(KeptAnswer(200, ((b"Content-Type", b"text/plain"),), bytes(range(256)) * 256), id="64 KiB"),
        pytest.param(None, id="none: it was too large"),
    ],
)
async def test_an_answer_is_replayed_byte_for_byte(store: FenceStore, kept: KeptAnswer | None) -> None:
    """As it was kept, as often as it is asked for."""
    await ended(store, intent(), "applied", kept)

    for _ in range(2):
        assert await ask(store, intent()) == Replayed(intent(), INTENT, kept)


async def test_a_resolved_intent_is_replayed_as_such(store: FenceStore) -> None:
    """There is no answer, and whoever asks is told who found out."""
    await ended(store, intent(), "unknown")
    await resolved(store, "applied")

    assert await ask(store, intent()) == Replayed(intent(), INTENT, None, "operator", b"")


async def test_a_successor_gets_the_replay_and_its_epoch_is_recorded(store: FenceStore) -> None:
    """It repeats its predecessor's step: nothing is sent, and from then on the predecessor is stale."""
    await ended(store, intent(epoch=41), "applied", ANSWER)

    assert name_of(await ask(store, keyed(bare(42, "B")))) == "Replayed"

    assert name_of(await ask(store, bare(41))) == "stale-epoch"


@pytest.mark.parametrize("outcome", [None, "unknown"])
async def test_a_successor_of_an_intent_that_has_not_ended_is_recorded_too(
    store: FenceStore, outcome: Outcome | None
) -> None:
    """Its refusal is not a reason to let the predecessor write on."""
    one = await admitted(store, intent(epoch=41))
    if outcome is not None:
        await settled(store, one, outcome)

    assert told(await ask(store, keyed(bare(42, "B")))) in [
        ("intent-in-progress", "in_flight"),
        ("outcome-unknown", "unknown"),
    ]

    assert told(await ask(store, intent(epoch=41)))[0] == "stale-epoch"


async def test_whoever_lost_its_right_is_told_that_its_intent_was_applied(store: FenceStore) -> None:
    """Each refusal of the fence tells the state of the caller's own intent, and of no other."""
    lease = await granted(store)
    mine = keyed(leased(lease.epoch))
    await ended(store, mine, "applied", ANSWER)
    other = keyed(leased(lease.epoch), says=b"another thing")

    wrong = replace(mine, secret_digest=OTHER_SECRET)
    assert told(await ask(store, wrong)) == ("token-invalid", "applied")
    assert told(await ask(store, replace(mine, holder="B"))) == ("holder-mismatch", "applied")
    assert told(await ask(store, replace(other, holder="B"))) == ("holder-mismatch", None)
    await store.release(RESOURCE, lease.epoch, SECRET)
    assert told(await ask(store, mine)) == ("lease-expired", "applied")
    await granted(store, "B", OTHER_SECRET)
    assert told(await ask(store, mine)) == ("stale-epoch", "applied")
    assert told(await ask(store, other)) == ("stale-epoch", None)
    await pause(store, RESOURCE, id="p", reason="", by="operator")
    assert told(await ask(store, mine)) == ("paused", "applied")


@pytest.mark.parametrize(
    ("fence", "counts"),
    [
        pytest.param(Fence(order="strict"), False, id="strict"),
        pytest.param(Fence(sequence="contiguous"), False, id="contiguous"),
        pytest.param(Fence(sequence="increasing"), False, id="increasing"),
        pytest.param(Fence(), True, id="revision"),
    ],
)
async def test_a_repeat_gets_its_answer_and_not_a_refusal(store: FenceStore, fence: Fence, counts: bool) -> None:
    """The intent comes before order, sequence and revision: it has used up its own place."""
    of = rule(fence, counts=counts)
    write = keyed(bare(42, of=of, sequence=1, if_revision=0))
    await ended(store, write, "applied", ANSWER)

    assert name_of(await ask(store, write)) == "Replayed"
    assert name_of(await ask(store, replace(write, intent=None))) != "Admitted"


async def test_a_repeat_waits_for_nobody(store: FenceStore) -> None:
    """Neither for another write of its epoch nor for those of an older one."""
    await ended(store, intent(), "applied", ANSWER)
    await admitted(store, bare(42))
    assert name_of(await ask(store, intent())) == "Replayed"

    assert isinstance(await ask(store, bare(43, "B")), Waiting)
    assert name_of(await ask(store, keyed(bare(43, "B")))) == "Replayed"


async def test_an_intent_that_has_to_wait_has_no_record(store: FenceStore) -> None:
    """Nothing was admitted; it is asked about again from the start."""
    await admitted(store, bare(42))

    assert isinstance(await ask(store, intent()), Waiting)

    assert await state_of(store) is None


@pytest.mark.parametrize(
    ("fence", "counts"),
    [
        pytest.param(Fence(order="strict"), False, id="strict"),
        pytest.param(Fence(sequence="contiguous"), False, id="contiguous"),
        pytest.param(Fence(), True, id="revision"),
    ],
)
async def test_a_retry_in_doubt_has_the_place_of_the_attempt_before(
    store: FenceStore, fence: Fence, counts: bool
) -> None:
    """Of the same epoch it is one write, with one place and one revision, however often it is sent."""
    of = unknown_is("retry", rule(fence, counts=counts), native_s=3600.0)
    write = keyed(bare(42, of=of, sequence=1, if_revision=0))
    await ended(store, write, "unknown")
    revision = await store.revision(RESOURCE)

    again = await admitted(store, write)

    assert again.in_doubt
    assert (await settled(store, again, "applied", ANSWER)).outcome == "applied"
    assert await store.revision(RESOURCE) == revision == counts
    assert name_of(await ask(store, replace(write, intent=None))) != "Admitted"


@pytest.mark.parametrize(
    ("fence", "counts", "told_of"),
    [
        (Fence(sequence="increasing"), False, "out-of-sequence"),
        (Fence(sequence="contiguous"), False, "out-of-sequence"),
        (Fence(), True, "revision-mismatch"),
    ],
    ids=["increasing", "contiguous", "a revision"],
)
async def test_a_retry_in_doubt_has_no_place_behind_which_another_came(
    store: FenceStore, fence: Fence, counts: bool, told_of: str
) -> None:
    """It would write over what it never saw. It stays unknown, and its caller is told so."""
    of = unknown_is("retry", rule(fence, counts=counts), native_s=3600.0)
    write = keyed(bare(42, of=of, sequence=1, if_revision=0))
    await ended(store, write, "unknown")
    await ended(store, replace(write, intent=None, sequence=2, if_revision=1), "applied")

    assert told(await ask(store, write)) == (told_of, "unknown")


async def test_a_retry_in_doubt_under_a_newer_epoch_needs_a_place_of_its_own(store: FenceStore) -> None:
    """The successor's sequence begins at one; the revision is counted once all the same."""
    of = unknown_is("retry", rule(Fence(sequence="contiguous"), counts=True), native_s=3600.0)
    await ended(store, keyed(bare(42, of=of, sequence=1)), "unknown")

    assert told(await ask(store, keyed(bare(43, "B", of, sequence=2))))[0] == "out-of-sequence"
    again = await admitted(store, keyed(bare(43, "B", of, sequence=1)))
    await settled(store, again, "applied", ANSWER)

    assert await store.revision(RESOURCE) == 1
    assert name_of(await ask(store, bare(43, "B", of, sequence=2))) == "Admitted"


async def test_the_native_key_counts_from_the_first_attempt_in_doubt(store: FenceStore, raw: Any) -> None:
    """The upstream has known the key since then: a later attempt does not make it remember for longer."""
    await ended(store, intent(RETRIED), "unknown")
    make_sent_before(raw, INTENT, 3500)
    await settled(store, await admitted(store, intent(RETRIED)), "unknown")
    make_sent_before(raw, INTENT, 200)

    assert told(await ask(store, intent(RETRIED))) == ("outcome-unknown", "unknown")


async def test_a_free_key_makes_the_native_key_new(store: FenceStore, raw: Any) -> None:
    """What was proved not applied is no attempt in doubt: the next one's time begins with itself."""
    await ended(store, intent(RETRIED), "not_applied")
    make_sent_before(raw, INTENT, 4000)
    await ended(store, intent(RETRIED), "unknown")

    assert name_of(await ask(store, intent(RETRIED))) == "Admitted"


async def test_an_attempt_whose_gateway_died_is_unknown_to_its_repeat(store: FenceStore, raw: Any) -> None:
    """Under `parallel` too, and before the sweeper comes by; another write of the epoch is not judged for it."""
    of = unknown_is("hold", rule(PARALLEL))
    dead = await admitted(store, intent(of))
    make_overdue(raw, RESOURCE, dead.ticket)
    assert name_of(await ask(store, bare(42, of=of))) == "Admitted"
    assert await state_of(store) == "in_flight"

    assert told(await ask(store, intent(of))) == ("outcome-unknown", "unknown")


async def test_an_intent_is_its_resources_and_its_keys(store: FenceStore) -> None:
    """Another digest is another intent: another tenant, target or key."""
    await ended(store, intent(), "applied", ANSWER)

    assert name_of(await ask(store, keyed(bare(42), digest=f"{'another':-<22}"))) == "Admitted"


async def test_a_hundred_repeats_at_once_are_one_attempt(store: FenceStore) -> None:
    """The record is made by the call that admits: nobody passes between look and make."""
    of = unknown_is("hold", rule(PARALLEL))
    tickets = [store.new_ticket(RESOURCE) for _ in range(100)]
    calls = [store.admit(intent(of), ticket, ttl_s=TTL_S, queued=False, behind=0) for ticket in tickets]

    names = sorted(name_of(reply) for reply in await asyncio.gather(*calls))

    assert names == ["Admitted", *["intent-in-progress"] * 99]
