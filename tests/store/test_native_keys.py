"""A further attempt of an unknown intent, where the upstream itself refuses the second by the key that it was given."""

from dataclasses import replace
from typing import Any

import pytest

from gateway.core.rule import Fence, IntentTerms, NativeKey, OnUnknown, Rule
from gateway.core.write import Write
from gateway.store.fence import FenceStore
from gateway.store.keys import intent_record, resource_keys
from gateway.store.resets import reset
from tests.intending import RULE, ended, intended
from tests.store.asked import id_of
from tests.store.fences import admitted, ask, name_of
from tests.store.overdue import make_sent_before

KEY = NativeKey(b"Idempotency-Key")


def rule(native: NativeKey | None, on_unknown: OnUnknown = "retry") -> Rule:
    upstream = replace(RULE.upstream, native_key=native)
    return replace(RULE, upstream=upstream, intent=IntentTerms("required", on_unknown=on_unknown))


def at_another_server(of: Rule) -> Rule:
    return replace(of, upstream=replace(of.upstream, origin=replace(of.upstream.origin, host="another")))


@pytest.mark.parametrize(
    ("first", "second", "reply"),
    [
        (rule(KEY), rule(KEY), "Admitted"),
        (rule(KEY), rule(NativeKey(b"idempotency-key")), "Admitted"),
        (rule(KEY, "hold"), rule(KEY), "Admitted"),
        (rule(KEY), rule(KEY, "hold"), "outcome-unknown"),
        (rule(None, "hold"), rule(KEY), "outcome-unknown"),
        (rule(KEY), rule(NativeKey(b"X-Idem")), "outcome-unknown"),
        (rule(KEY), rule(NativeKey(b"Idempotency-Key", retain_s=0.0)), "outcome-unknown"),
        (rule(KEY), at_another_server(rule(KEY)), "outcome-unknown"),
    ],
    ids=[
        *("the same key", "in another case", "retried by a newer policy", "held by a newer policy"),
        *("sent without a key", "sent under another header", "no longer remembered", "sent to another server"),
    ],
)
async def test_an_unknown_intent_is_sent_again_only_under_the_key_that_it_was_sent_with(
    store: FenceStore, first: Rule, second: Rule, reply: str
) -> None:
    """Policies change while an intent is unknown: the upstream compares what it was given, not what would be given
    today."""
    await ended(store, intended("k", of=first), "unknown")

    assert name_of(await ask(store, intended("k", of=second))) == reply


@pytest.mark.parametrize(
    ("sent_before_s", "told"),
    [(0, "Admitted"), (15, "Admitted"), (35, "outcome-unknown"), (65, "outcome-unknown"), (-30, "outcome-unknown")],
    ids=["just now", "in time", "it may be sent too late", "too late", "the clock was set back since"],
)
async def test_it_is_sent_again_only_where_it_comes_while_the_upstream_remembers_the_key(
    store: FenceStore, raw: Any, sent_before_s: int, told: str
) -> None:
    """A minute; and each attempt may be under way for half a minute before its first byte leaves."""
    write = intended("k", of=rule(NativeKey(b"Idempotency-Key", retain_s=60.0)))
    await ended(store, write, "unknown")
    make_sent_before(raw, id_of(write), sent_before_s)

    assert name_of(await ask(store, write, ttl_s=30.0)) == told


@pytest.mark.parametrize(("by_s", "told"), [(15, "Admitted"), (45, "outcome-unknown")])
async def test_an_attempt_from_before_the_clock_was_set_back_is_as_much_older(
    store: FenceStore, by_s: int, told: str
) -> None:
    """As the gateway saw it. What was sent since is as old as it looks."""
    write = intended("k", of=rule(NativeKey(b"Idempotency-Key", retain_s=60.0)))
    since = intended("l", of=write.rule)
    now = store._clock.read()
    store._clock.learn(store.expected_ms() + by_s * 1000, now, now)
    await ended(store, write, "unknown")
    assert name_of(await ask(store, write, ttl_s=30.0)) == told

    store._clock._stood_at_s = 0.0
    await ended(store, since, "unknown")
    assert name_of(await ask(store, since, ttl_s=30.0)) == "Admitted"


def forget(raw: Any, write: Write) -> None:
    """The store has nothing of it."""
    fence, current, older, *_ = resource_keys(write.resource)
    raw.delete(fence, current, older, intent_record(id_of(write)))


@pytest.mark.parametrize("is_there", [True, False], ids=["the first is there", "nothing is there"])
async def test_an_attempt_that_the_store_forgot_is_as_old_as_the_first_in_doubt(
    store: FenceStore, raw: Any, is_there: bool
) -> None:
    """A replica took over that did not have it. The upstream has known the key since the first one."""
    write = intended("k", of=rule(NativeKey(b"Idempotency-Key", retain_s=60.0)))
    await ended(store, write, "unknown")
    make_sent_before(raw, id_of(write), 40)
    kept = raw.dump(intent_record(id_of(write)))
    second = await admitted(store, write, ttl_s=15.0)
    forget(raw, write)
    if is_there:
        raw.restore(intent_record(id_of(write)), 0, kept)

    await store.settle(second, "unknown", "closed", None)

    assert name_of(await ask(store, write, ttl_s=30.0)) == "outcome-unknown"
    assert name_of(await ask(store, write, ttl_s=15.0)) == "Admitted"


async def test_an_attempt_is_as_old_as_its_admission_also_where_its_end_comes_late(store: FenceStore, raw: Any) -> None:
    """The store was away for so long, and came back without it."""
    write = intended("k", of=rule(NativeKey(b"Idempotency-Key", retain_s=60.0)))
    one = await admitted(store, write, ttl_s=30.0)
    forget(raw, write)

    await store.settle(replace(one, sent_ms=one.sent_ms - 40_000), "unknown", "closed", None)

    assert name_of(await ask(store, write, ttl_s=30.0)) == "outcome-unknown"


@pytest.mark.parametrize("ahead_s", [0, 30])
async def test_a_further_attempt_has_the_place_of_the_first_in_its_own_era_alone(
    store: FenceStore, raw: Any, ahead_s: int
) -> None:
    """Numbers may begin anew with a reset: under `strict` the epoch has made its one write already. That the clock was
    ahead when it was sent, and has been put right, changes nothing.
    """
    strict = replace(rule(KEY), fence=Fence(order="strict"))
    first = intended("k", of=strict)
    await ended(store, first, "unknown")
    make_sent_before(raw, id_of(first), -ahead_s)
    await reset(store, first.resource, note="a test ran away", by="operator")
    await ended(store, intended("l", of=strict), "applied")

    assert name_of(await ask(store, first)) == "stale-epoch"


async def test_once_it_has_one_there_each_further_attempt_has_it(store: FenceStore) -> None:
    """It began before the reset, and its second attempt was the one write of the epoch in the new era."""
    strict = replace(rule(KEY), fence=Fence(order="strict"))
    first = intended("k", of=strict)
    await ended(store, first, "unknown")
    await reset(store, first.resource, note="a test ran away", by="operator")
    await ended(store, first, "unknown")

    await ended(store, first, "unknown")
    await ended(store, first, "applied")

    assert name_of(await ask(store, intended("l", of=strict))) == "stale-epoch"
