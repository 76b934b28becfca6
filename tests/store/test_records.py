"""Records of intents: what they say, how long they are kept, and the lists that they are in."""

from typing import Any

import pytest

from gateway.core.outcome import Outcome
from gateway.core.rule import Rule
from gateway.core.write import Write
from gateway.store.fence import FenceStore
from gateway.store.intents import Resolve, resolve
from gateway.store.keys import in_state, questions, resource_keys, shard_of
from tests.store.fences import (
    ANSWER,
    HELD,
    INTENT,
    PLAIN,
    RESOURCE,
    RETAIN_S,
    RETRIED,
    admitted,
    bare,
    ended,
    keyed,
    opened,
    resolved,
    settled,
    state_of,
    unknown_is,
)


def intent(of: Rule = HELD) -> Write:
    return keyed(bare(42, of=of))


@pytest.mark.parametrize(
    ("outcome", "of", "left_s"),
    [
        pytest.param(None, HELD, None, id="in flight for ever"),
        pytest.param("unknown", HELD, None, id="unknown for ever"),
        pytest.param("applied", HELD, RETAIN_S, id="applied as long as its rule says"),
        pytest.param("not_applied", HELD, RETAIN_S, id="not applied as long as its rule says"),
        pytest.param("unknown", RETRIED, None, id="unknown for ever under retry"),
    ],
)
async def test_a_record_is_kept_until_it_ends_and_for_a_time_after(
    store: FenceStore, raw: Any, outcome: Outcome | None, of: Rule, left_s: float | None
) -> None:
    """Retention counts from the end; what has not ended has none."""
    one = await admitted(store, intent(of))
    if outcome is not None:
        await settled(store, one, outcome)

    left_ms = raw.pttl(f"{resource_keys(RESOURCE)[6]}i:{INTENT}")

    if left_s is None:
        assert left_ms == -1
    else:
        assert 0 <= left_s * 1000 - left_ms < 60_000


async def test_a_free_key_that_is_used_again_does_not_expire_in_flight(store: FenceStore, raw: Any) -> None:
    """The time to live that it had as not applied goes with that state."""
    await ended(store, intent(), "not_applied")
    await admitted(store, intent())

    assert raw.pttl(f"{resource_keys(RESOURCE)[6]}i:{INTENT}") == -1


@pytest.mark.parametrize(
    ("outcome", "of", "asked"),
    [
        pytest.param("unknown", HELD, False, id="unknown, held"),
        pytest.param("unknown", unknown_is("query"), True, id="unknown, asked about"),
        pytest.param("applied", unknown_is("query"), False, id="applied"),
        pytest.param("not_applied", unknown_is("query"), False, id="not applied"),
    ],
)
async def test_an_intent_is_in_the_list_of_its_state_and_in_no_other(
    store: FenceStore, raw: Any, outcome: Outcome, of: Rule, asked: bool
) -> None:
    """What is to be asked about is in a list of its own, by the time of the next question."""
    before_ms = store.expected_ms()
    await ended(store, intent(of), outcome)

    shard = shard_of(RESOURCE)
    listed = {state: raw.zrange(in_state(shard, state), 0, -1) for state in ("unknown", "applied", "not_applied")}
    assert listed == {state: [INTENT.encode()] if state == outcome else [] for state in listed}
    due = dict(raw.zrange(questions(shard), 0, -1, withscores=True))
    assert list(due) == ([INTENT.encode()] if asked else [])
    assert all(60_000 <= ms - before_ms < 120_000 for ms in due.values())


async def test_a_write_without_a_key_leaves_no_record_unless_it_is_unknown(store: FenceStore) -> None:
    """Its id is its ticket's."""
    for outcome, state in (("applied", None), ("not_applied", None), ("unknown", "unknown")):
        one = await ended(store, bare(42, of=PLAIN), outcome)

        assert one.intent == one.ticket
        assert await state_of(store, one.intent) == state


async def test_a_record_says_what_was_asked(store: FenceStore) -> None:
    """Key, tenant and target for people, the newest attempt's epoch and holder, and how many attempts there were."""
    await ended(store, intent(), "not_applied")
    await ended(store, keyed(bare(43, "B", HELD)), "applied", ANSWER, "answered 201")

    record = await store.recall(INTENT)

    assert record is not None
    assert (record.key, record.tenant, record.target) == ("mail-7", "default", "POST /mails")
    assert (record.epoch, record.holder, record.attempts) == (43, "B", 2)
    assert (record.upstream, record.rule, record.resource) == ("reports", "replace", RESOURCE)
    assert (record.state, record.reason, record.answer) == ("applied", "answered 201", ANSWER)
    assert record.created_at_ms <= record.updated_at_ms


@pytest.mark.parametrize("id", ["", "x", "zzz" + "a" * 22, "fff" + "a" * 22, f"{INTENT} ", "000" + "a" * 22])
async def test_an_id_of_nothing_is_nothing(store: FenceStore, id: str) -> None:
    """Of no shard, or of one that has no such record: nobody's key is looked at."""
    assert await store.recall(id) is None


async def test_an_intent_leaves_the_list_of_the_state_that_it_leaves(store: FenceStore, raw: Any) -> None:
    """Unknown, resolved, sent again, applied: one list at a time, none in flight."""
    seen = []
    await ended(store, intent(), "unknown")
    seen.append(lists(raw))
    await resolved(store, "not_applied")
    seen.append(lists(raw))
    again = await admitted(store, intent())
    seen.append(lists(raw))
    await settled(store, again, "applied", ANSWER)
    seen.append(lists(raw))

    assert seen == [{"unknown"}, {"not_applied"}, set(), {"applied"}]


async def test_a_further_attempt_forgets_what_was_found_out_before(store: FenceStore) -> None:
    """Who resolved, and on what evidence, is about the attempt before; the trail keeps it."""
    await ended(store, intent(), "unknown")
    record = await store.recall(INTENT)
    assert record is not None
    await resolve(store, record, Resolve("not_applied", "query", "answered 404", "gateway", b'{"found":false}'))
    await admitted(store, intent())

    record = await store.recall(INTENT)
    assert record is not None
    assert (record.state, record.resolved_by, record.evidence) == ("in_flight", None, b"")


def lists(raw: Any) -> set[str]:
    """The states in whose lists the intent is."""
    states = ("unknown", "applied", "not_applied")
    return {state for state in states if raw.zscore(in_state(shard_of(RESOURCE), state), INTENT) is not None}


async def test_records_of_gateways_with_the_longest_names_are_found(store_url: str) -> None:
    """A ticket's id holds its gateway's name."""
    async with opened(store_url, gateway="g" * 64) as store:
        one = await ended(store, bare(42), "unknown")

        assert await state_of(store, one.intent) == "unknown"
